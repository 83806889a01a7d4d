// SPDX-License-Identifier: Apache-2.0
#include "drivers/pmix/pmix_client.h"

#include <fmt/format.h>

#if __has_include(<pmix.h>)

#include <dlfcn.h>
#include <pmix.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>

namespace gyre::drivers {
namespace {

// The functions of libpmix that are used, found by name.
struct Library {
  decltype(&::PMIx_Init) init = nullptr;
  decltype(&::PMIx_Finalize) finalize = nullptr;
  decltype(&::PMIx_Put) put = nullptr;
  decltype(&::PMIx_Commit) commit = nullptr;
  decltype(&::PMIx_Fence_nb) fence = nullptr;
  decltype(&::PMIx_Get) get = nullptr;
  decltype(&::PMIx_Error_string) error_string = nullptr;

  static Result<Library> load();
  [[nodiscard]] Unexpected failure(std::string_view call, pmix_status_t status) const {
    return fail(Code::system_error, fmt::format("{}: {} ({}). Is the launcher that started this "
                                                "process still there?",
                                                call, error_string(status), status));
  }
};

template <typename Function>
bool find(void* handle, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(::dlsym(handle, name));
  return *function != nullptr;
}

Result<Library> Library::load() {
  // Never unloaded: the library runs threads of its own until the process ends.
  void* handle = ::dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return fail(Code::not_supported,
                fmt::format("This process was started through PMIx, but libpmix cannot be loaded: "
                            "{}. Install it (Debian and Ubuntu: libpmix2), or hand the ranks an id "
                            "in GYRE_COMM_ID.",
                            ::dlerror()));
  }
  Library library;
  if (!find(handle, "PMIx_Init", &library.init) ||
      !find(handle, "PMIx_Finalize", &library.finalize) ||
      !find(handle, "PMIx_Put", &library.put) || !find(handle, "PMIx_Commit", &library.commit) ||
      !find(handle, "PMIx_Fence_nb", &library.fence) || !find(handle, "PMIx_Get", &library.get) ||
      !find(handle, "PMIx_Error_string", &library.error_string)) {
    return fail(Code::not_supported,
                fmt::format("libpmix.so.2 is not the library that Gyre knows: {}.", ::dlerror()));
  }
  return library;
}

struct FreeValue {  // the heap objects of the two kinds of value that are asked for
  void operator()(pmix_value_t* value) const {
    if (value->type == PMIX_BYTE_OBJECT) {
      std::free(value->data.bo.bytes);
    }
    std::free(value);
  }
};
using Value = std::unique_ptr<pmix_value_t, FreeValue>;

// Outcome of a fence; shared with the callback, which may come after we gave up.
struct Completion {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<pmix_status_t> status;

  static void done(pmix_status_t status, void* data) {
    const std::unique_ptr<std::shared_ptr<Completion>> self(
        static_cast<std::shared_ptr<Completion>*>(data));
    const std::lock_guard lock((*self)->mutex);
    (*self)->status = status;
    (*self)->changed.notify_all();
  }
};

pmix_proc_t process_of(const std::string& job, pmix_rank_t rank) {
  pmix_proc_t process{};
  job.copy(process.nspace, sizeof process.nspace - 1);
  process.rank = rank;
  return process;
}

class LibPmix final : public PmixClient {
 public:
  static Result<std::unique_ptr<PmixClient>> open();
  LibPmix(const Library& library, PmixProcess process)
      : library_(library), process_(std::move(process)) {}
  LibPmix(const LibPmix&) = delete;
  LibPmix& operator=(const LibPmix&) = delete;
  // Counted by the library: an MPI in the same process keeps its own connection.
  ~LibPmix() override { library_.finalize(nullptr, 0); }

  [[nodiscard]] const PmixProcess& process() const override { return process_; }
  Status put(const std::string& key, std::span<const std::byte> value) override;
  Status fence(std::chrono::milliseconds timeout) override;
  Result<std::vector<std::byte>> get(int rank, const std::string& key) override;

 private:
  Result<Value> value(pmix_rank_t rank, const char* key) const;
  [[nodiscard]] std::optional<int> number(pmix_rank_t rank, const char* key) const;

  Library library_;
  PmixProcess process_;
};

Result<std::unique_ptr<PmixClient>> LibPmix::open() {
  const Result<Library> library = Library::load();
  if (!library) {
    return Unexpected(library.error());
  }
  pmix_proc_t self{};
  if (const pmix_status_t status = library->init(&self, nullptr, 0); status != PMIX_SUCCESS) {
    return library->failure("PMIx_Init", status);
  }
  PmixProcess process;
  process.job = self.nspace;
  process.rank = static_cast<int>(self.rank);
  auto client = std::make_unique<LibPmix>(*library, process);
  const std::optional<int> size = client->number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
  if (!size) {
    return fail(Code::system_error, "The PMIx server does not say how many processes the job has.");
  }
  client->process_.size = *size;
  client->process_.local_rank = client->number(self.rank, PMIX_LOCAL_RANK).value_or(-1);
  client->process_.local_size = client->number(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE).value_or(-1);
  return std::unique_ptr<PmixClient>(std::move(client));
}

Result<Value> LibPmix::value(pmix_rank_t rank, const char* key) const {
  const pmix_proc_t process = process_of(process_.job, rank);
  pmix_value_t* raw = nullptr;
  const pmix_status_t status = library_.get(&process, key, nullptr, 0, &raw);
  if (status != PMIX_SUCCESS || raw == nullptr) {
    return library_.failure(fmt::format("PMIx_Get({})", key), status);
  }
  return Value(raw);
}

std::optional<int> LibPmix::number(pmix_rank_t rank, const char* key) const {
  const Result<Value> got = value(rank, key);
  if (got && (*got)->type == PMIX_UINT32) {
    return static_cast<int>((*got)->data.uint32);
  }
  if (got && (*got)->type == PMIX_UINT16) {
    return static_cast<int>((*got)->data.uint16);
  }
  return std::nullopt;
}

Status LibPmix::put(const std::string& key, std::span<const std::byte> bytes) {
  std::vector<char> copy(bytes.size());
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  pmix_value_t value{};
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo.bytes = copy.data();
  value.data.bo.size = copy.size();
  if (const pmix_status_t status = library_.put(PMIX_GLOBAL, key.c_str(), &value);
      status != PMIX_SUCCESS) {
    return library_.failure("PMIx_Put", status);
  }
  if (const pmix_status_t status = library_.commit(); status != PMIX_SUCCESS) {
    return library_.failure("PMIx_Commit", status);
  }
  return {};
}

// The blocking form may wait for ever for a process that never comes.
Status LibPmix::fence(std::chrono::milliseconds timeout) {
  const pmix_proc_t everybody = process_of(process_.job, PMIX_RANK_WILDCARD);
  pmix_info_t collect{};
  std::strncpy(collect.key, PMIX_COLLECT_DATA, sizeof collect.key - 1);
  collect.value.type = PMIX_BOOL;
  collect.value.data.flag = true;
  const auto completion = std::make_shared<Completion>();
  auto handed_over = std::make_unique<std::shared_ptr<Completion>>(completion);
  const pmix_status_t begun =
      library_.fence(&everybody, 1, &collect, 1, &Completion::done, handed_over.get());
  if (begun == PMIX_OPERATION_SUCCEEDED) {
    return {};  // done at once; the callback never comes
  }
  if (begun != PMIX_SUCCESS) {
    return library_.failure("PMIx_Fence", begun);
  }
  static_cast<void>(handed_over.release());  // the callback owns it now
  std::unique_lock lock(completion->mutex);
  if (!completion->changed.wait_for(lock, timeout,
                                    [&] { return completion->status.has_value(); })) {
    return fail(Code::timeout,
                fmt::format("Not all {} processes of job {} reached the exchange of the unique id "
                            "in time. Does every process make the same Gyre calls?",
                            process_.size, process_.job));
  }
  if (*completion->status != PMIX_SUCCESS) {
    return library_.failure("PMIx_Fence", *completion->status);
  }
  return {};
}

Result<std::vector<std::byte>> LibPmix::get(int rank, const std::string& key) {
  const Result<Value> got = value(static_cast<pmix_rank_t>(rank), key.c_str());
  if (!got) {
    return Unexpected(got.error());
  }
  if ((*got)->type != PMIX_BYTE_OBJECT) {
    return fail(Code::internal_error, fmt::format("The value of {} has a wrong type.", key));
  }
  std::vector<std::byte> bytes((*got)->data.bo.size);
  std::memcpy(bytes.data(), (*got)->data.bo.bytes, bytes.size());
  return bytes;
}

}  // namespace

Result<std::unique_ptr<PmixClient>> open_pmix() {
  return LibPmix::open();
}

}  // namespace gyre::drivers

#else

namespace gyre::drivers {

Result<std::unique_ptr<PmixClient>> open_pmix() {
  return fail(Code::not_supported,
              "This process was started through PMIx, but Gyre was built without the headers of "
              "libpmix (Debian and Ubuntu: libpmix-dev). Build it with them, or hand the ranks an "
              "id in GYRE_COMM_ID.");
}

}  // namespace gyre::drivers

#endif
