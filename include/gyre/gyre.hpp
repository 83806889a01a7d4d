// SPDX-License-Identifier: Apache-2.0
//
// Gyre for C++20: owners of the handles of gyre.h, and its collectives over typed ranges.
//
// Nothing here throws. What can fail returns an Outcome, which holds a value or an error and must
// be looked at:
//
//   auto comm = gyre::Comm::from_environment();
//   if (!comm) { std::cerr << comm.message(); return 1; }
//   std::vector<float> gradients = ...;
//   if (auto done = comm->all_reduce(gradients); !done) { std::cerr << done.message(); }
//
// Buffers are any contiguous range: std::vector, std::array, std::span, gyre::SharedBuffer. Counts
// are taken from the ranges, and the ranges of one call must fit each other. On a stream a range
// must stay where it is until the stream is synchronized. Threads: as in gyre.h.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <gyre/gyre.h>

namespace gyre {
// The inline namespace keeps these names apart, for the linker, from the inside of the library.
inline namespace api {

// ---- outcomes
// -------------------------------------------------------------------------------------

// Success, or a result code with the sentences that explain it.
template <typename T = void>
class Outcome;

template <>
class [[nodiscard]] Outcome<void> {
 public:
  Outcome() = default;
  Outcome(gyreResult_t code, std::string message) : code_(code), message_(std::move(message)) {}

  [[nodiscard]] bool ok() const { return code_ == gyreSuccess; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] gyreResult_t code() const { return code_; }
  // Empty on success.
  [[nodiscard]] const std::string& message() const { return message_; }

  // What a C function returned; the text is fetched when it failed.
  static Outcome of(gyreResult_t code, gyreComm_t comm = nullptr) {
    return code == gyreSuccess ? Outcome() : Outcome(code, gyreGetLastError(comm));
  }

 private:
  gyreResult_t code_ = gyreSuccess;
  std::string message_;
};

template <typename T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor): a result
  Outcome(Outcome<void> failure)                  // NOLINT(google-explicit-constructor): a result
      : failure_(std::move(failure)) {}

  [[nodiscard]] bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] gyreResult_t code() const { return failure_.code(); }
  [[nodiscard]] const std::string& message() const { return failure_.message(); }

  // Only of a success; otherwise the program ends with the message.
  [[nodiscard]] T& value() & { return require(); }
  [[nodiscard]] T&& value() && { return std::move(require()); }
  T& operator*() & { return require(); }
  T&& operator*() && { return std::move(require()); }
  T* operator->() { return &require(); }

 private:
  T& require() {
    if (!value_) {
      std::fprintf(stderr, "gyre::Outcome: no value: %s\n", message().c_str());
      std::abort();
    }
    return *value_;
  }

  std::optional<T> value_;
  Outcome<void> failure_;
};

// GYRE_VERSION_CODE of the library that is loaded.
[[nodiscard]] inline int library_version() {
  int version = 0;
  gyreGetVersion(&version);
  return version;
}

// Made by one process, handed to all ranks of a communicator.
[[nodiscard]] inline Outcome<gyreUniqueId> unique_id() {
  gyreUniqueId id;
  if (auto made = Outcome<>::of(gyreGetUniqueId(&id)); !made) {
    return made;
  }
  return id;
}

// ---- element types
// --------------------------------------------------------------------------------

// C++20 has no small floats: these hold the bits of one, to be filled and read by other software.
struct Float16 {
  std::uint16_t bits;
};
struct Bfloat16 {
  std::uint16_t bits;
};
struct Float8E4M3 {
  std::uint8_t bits;
};
struct Float8E5M2 {
  std::uint8_t bits;
};

// gyreNumTypes: T is no element. Specialize it for types of your own that hold the same bits:
//   template <> inline constexpr gyreDataType_t gyre::data_type<my_half> = gyreFloat16;
template <typename T>
inline constexpr gyreDataType_t data_type = [] {
  if constexpr (!std::is_integral_v<T> || std::is_same_v<T, bool> || std::is_same_v<T, char>) {
    return gyreNumTypes;
  } else {
    constexpr bool is_signed = std::is_signed_v<T>;
    switch (sizeof(T)) {
      case 1:
        return is_signed ? gyreInt8 : gyreUint8;
      case 4:
        return is_signed ? gyreInt32 : gyreUint32;
      case 8:
        return is_signed ? gyreInt64 : gyreUint64;
      default:
        return gyreNumTypes;
    }
  }
}();
template <>
inline constexpr gyreDataType_t data_type<float> = gyreFloat32;
template <>
inline constexpr gyreDataType_t data_type<double> = gyreFloat64;
template <>
inline constexpr gyreDataType_t data_type<Float16> = gyreFloat16;
template <>
inline constexpr gyreDataType_t data_type<Bfloat16> = gyreBfloat16;
template <>
inline constexpr gyreDataType_t data_type<Float8E4M3> = gyreFloat8e4m3;
template <>
inline constexpr gyreDataType_t data_type<Float8E5M2> = gyreFloat8e5m2;

template <typename T>
concept Element = std::is_trivially_copyable_v<T> && data_type<T>
!= gyreNumTypes;

// A range that a collective reads, and one that it writes.
template <typename R>
concept Source = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    Element<std::ranges::range_value_t<R>>;
template <typename R>
concept Destination =
    Source<R> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;
template <typename A, typename B>
concept SameElements = std::same_as<std::ranges::range_value_t<A>, std::ranges::range_value_t<B>>;

// ---- owners
// ---------------------------------------------------------------------------------------

// Owns a handle; `close` is called once, on destruction, unless the handle was released.
template <typename Handle, auto close>
class Owner {
 public:
  Owner() = default;
  explicit Owner(Handle handle) : handle_(handle) {}
  Owner(Owner&& other) noexcept : handle_(other.release()) {}
  Owner& operator=(Owner&& other) noexcept {
    if (this != &other) {
      reset(other.release());
    }
    return *this;
  }
  ~Owner() { reset(); }

  [[nodiscard]] Handle get() const { return handle_; }
  Handle release() { return std::exchange(handle_, nullptr); }

 private:
  void reset(Handle handle = nullptr) {
    if (Handle old = std::exchange(handle_, handle); old != nullptr) {
      close(old);
    }
  }

  Handle handle_ = nullptr;
};

// A queue of operations on CPU buffers. Its destruction waits for all of them.
class Stream {
 public:
  [[nodiscard]] static Outcome<Stream> create() {
    gyreStream_t stream = nullptr;
    if (auto created = Outcome<>::of(gyreStreamCreate(&stream)); !created) {
      return created;
    }
    return Stream(stream);
  }

  [[nodiscard]] Outcome<> synchronize() { return Outcome<>::of(gyreStreamSynchronize(get())); }
  // gyreSuccess, gyreInProgress, or the first failure.
  [[nodiscard]] gyreResult_t query() const { return gyreStreamQuery(get()); }
  [[nodiscard]] gyreStream_t get() const { return owner_.get(); }

 private:
  explicit Stream(gyreStream_t stream) : owner_(stream) {}
  Owner<gyreStream_t, gyreStreamDestroy> owner_;
};

// Zeroed host memory that peers can map: collectives on it stage nothing.
template <Element T>
class SharedBuffer {
 public:
  [[nodiscard]] static Outcome<SharedBuffer> allocate(std::size_t count) {
    if (count > SIZE_MAX / sizeof(T)) {
      return Outcome<>(gyreInvalidArgument, "gyre::SharedBuffer: the size in bytes overflows.");
    }
    void* memory = nullptr;
    if (auto allocated = Outcome<>::of(gyreMemAlloc(&memory, count * sizeof(T))); !allocated) {
      return allocated;
    }
    return SharedBuffer(memory, count);
  }

  [[nodiscard]] T* data() const { return static_cast<T*>(memory_.get()); }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] T* begin() const { return data(); }
  [[nodiscard]] T* end() const { return data() + size(); }
  T& operator[](std::size_t index) const { return data()[index]; }

 private:
  SharedBuffer(void* memory, std::size_t count) : memory_(memory), count_(count) {}
  Owner<void*, gyreMemFree> memory_;
  std::size_t count_ = 0;
};

// Memory made known to a communicator, until destruction. Must not outlive the memory.
class Registration {
 public:
  Registration(gyreComm_t comm, gyreRegistration_t registration)
      : comm_(comm), registration_(registration) {}
  Registration(Registration&& other) noexcept
      : comm_(other.comm_), registration_(std::exchange(other.registration_, nullptr)) {}
  Registration& operator=(Registration&& other) noexcept {
    std::swap(comm_, other.comm_);
    std::swap(registration_, other.registration_);
    return *this;
  }
  ~Registration() {
    if (registration_ != nullptr) {
      gyreCommDeregister(comm_, registration_);
    }
  }

  [[nodiscard]] gyreRegistration_t get() const { return registration_; }

 private:
  gyreComm_t comm_;
  gyreRegistration_t registration_;
};

}  // namespace api
}  // namespace gyre

#include <gyre/comm.hpp>
