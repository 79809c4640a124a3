#include "kernels/execution/cuda/cuda_memory.h"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>

#include "kernels/execution/alias_period.h"
#include "kernels/execution/cuda/cuda_error.h"
#include "kernels/index/checked.h"

namespace brink {

namespace {

// The driver's functions, found at run time: the program starts where there is no driver.
struct Driver {
  PFN_cuGetErrorString_v6000 get_error_string = nullptr;
  PFN_cuDeviceGetAttribute_v2000 device_get_attribute = nullptr;
  PFN_cuMemGetAllocationGranularity_v10020 get_granularity = nullptr;
  PFN_cuMemAddressReserve_v10020 address_reserve = nullptr;
  PFN_cuMemAddressFree_v10020 address_free = nullptr;
  PFN_cuMemCreate_v10020 create = nullptr;
  PFN_cuMemRelease_v10020 release = nullptr;
  PFN_cuMemMap_v10020 map = nullptr;
  PFN_cuMemUnmap_v10020 unmap = nullptr;
  PFN_cuMemSetAccess_v10020 set_access = nullptr;
  std::string error;

  Driver() {
    find("cuGetErrorString", 6000, get_error_string);
    find("cuDeviceGetAttribute", 2000, device_get_attribute);
    find("cuMemGetAllocationGranularity", 10020, get_granularity);
    find("cuMemAddressReserve", 10020, address_reserve);
    find("cuMemAddressFree", 10020, address_free);
    find("cuMemCreate", 10020, create);
    find("cuMemRelease", 10020, release);
    find("cuMemMap", 10020, map);
    find("cuMemUnmap", 10020, unmap);
    find("cuMemSetAccess", 10020, set_access);
  }

  template <class Function>
  void find(const char* name, [[maybe_unused]] unsigned version, Function& function) {
    if (!error.empty()) return;
    void* found = nullptr;
    cudaDriverEntryPointQueryResult answer{};
#if CUDART_VERSION >= 12050
    const cudaError_t status = cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, &answer);
#else
    const cudaError_t status = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &answer);
#endif
    if (status != cudaSuccess) {
      cudaGetLastError();
      error = cuda_failure(name, status);
    } else if (answer != cudaDriverEntryPointSuccess || found == nullptr) {
      error = std::string("the CUDA driver has no ") + name;
    } else {
      function = reinterpret_cast<Function>(found);
    }
  }

  std::optional<std::string> failure(const char* what, CUresult result) const {
    if (result == CUDA_SUCCESS) return std::nullopt;
    const char* text = nullptr;
    if (get_error_string(result, &text) != CUDA_SUCCESS || text == nullptr) text = "unknown error";
    return fmt::format("{}: {}", what, text);
  }
};

const Driver& driver() {
  static const Driver instance;
  return instance;
}

CUmemLocation location_of(int device) {
  CUmemLocation location{};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device;
  return location;
}

CUmemAllocationProp properties_of(int device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = location_of(device);
  return properties;
}

// Makes the context current and checks that the device maps whole pages of kPageBytes. Returns the device or an error.
std::variant<int, std::string> usable_device() {
  int device = 0;
  cudaError_t status = cudaFree(nullptr);
  if (status == cudaSuccess) status = cudaGetDevice(&device);
  if (status != cudaSuccess) {
    cudaGetLastError();
    return cuda_failure("no usable CUDA context", status);
  }
  const Driver& api = driver();
  if (!api.error.empty()) return api.error;
  int supported = 0;
  if (auto error = api.failure(
          "cuDeviceGetAttribute",
          api.device_get_attribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, device))) {
    return *error;
  }
  if (supported == 0) return "the device has no virtual memory management";
  const CUmemAllocationProp properties = properties_of(device);
  size_t granularity = 0;
  if (auto error = api.failure("cuMemGetAllocationGranularity",
                               api.get_granularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM))) {
    return *error;
  }
  if (granularity == 0 || kPageBytes % static_cast<int64_t>(granularity) != 0) {
    return fmt::format("the device maps pages of {} bytes, not of {}", granularity, kPageBytes);
  }
  return device;
}

int64_t round_up(int64_t value, int64_t unit) { return ceil_div(value, unit) * unit; }

}  // namespace

std::variant<CudaPhysical, std::string> CudaPhysical::create(int64_t bytes) {
  const auto device = usable_device();
  if (const auto* error = std::get_if<std::string>(&device)) return *error;
  const CUmemAllocationProp properties = properties_of(std::get<int>(device));
  CUmemGenericAllocationHandle handle = 0;
  if (auto error =
          driver().failure("cuMemCreate", driver().create(&handle, static_cast<size_t>(bytes), &properties, 0))) {
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    constexpr double kMiB = 1 << 20;
    if (cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) {
      cudaGetLastError();
      return *error;
    }
    return fmt::format("{} (asked for {:.0f} MiB, {:.0f} MiB free)", *error, static_cast<double>(bytes) / kMiB,
                       static_cast<double>(free_bytes) / kMiB);
  }
  return CudaPhysical(handle, bytes);
}

CudaPhysical::~CudaPhysical() {
  if (handle_ != 0) driver().release(handle_);
}

std::variant<CudaAddressRange, std::string> CudaAddressRange::reserve(int64_t bytes) {
  const auto device = usable_device();
  if (const auto* error = std::get_if<std::string>(&device)) return *error;
  CUdeviceptr start = 0;
  if (auto error = driver().failure("cuMemAddressReserve",
                                    driver().address_reserve(&start, static_cast<size_t>(bytes), kPageBytes, 0, 0))) {
    return fmt::format("{} (asked for {} MiB of addresses)", *error, bytes >> 20);
  }
  CudaAddressRange range(start, bytes);
  if (start % kPageBytes != 0) return "cuMemAddressReserve: the range is not aligned to 2 MiB";
  return range;
}

CudaAddressRange::~CudaAddressRange() {
  if (start_ == 0) return;
  // After a fault these fail, and the driver frees everything when the process ends.
  for (const auto& [offset, bytes] : mappings_) {
    driver().unmap(start_ + static_cast<uint64_t>(offset), static_cast<size_t>(bytes));
  }
  driver().address_free(start_, static_cast<size_t>(bytes_));
}

std::optional<std::string> CudaAddressRange::map(int64_t offset, const CudaPhysical& memory) {
  if (offset < 0 || offset > bytes_ - memory.bytes()) return "a mapping does not fit in its range";
  const uint64_t at = start_ + static_cast<uint64_t>(offset);
  const CUresult result = driver().map(at, static_cast<size_t>(memory.bytes()), 0, memory.handle(), 0);
  if (result == CUDA_SUCCESS) mappings_.emplace(offset, memory.bytes());
  return driver().failure("cuMemMap", result);
}

std::optional<std::string> CudaAddressRange::unmap(int64_t offset) {
  const auto found = mappings_.find(offset);
  if (found == mappings_.end()) return "nothing is mapped there";
  const CUresult result = driver().unmap(start_ + static_cast<uint64_t>(offset), static_cast<size_t>(found->second));
  if (result == CUDA_SUCCESS) mappings_.erase(found);
  return driver().failure("cuMemUnmap", result);
}

std::optional<std::string> CudaAddressRange::allow_access(int64_t offset, int64_t bytes) {
  const auto device = usable_device();
  if (const auto* error = std::get_if<std::string>(&device)) return *error;
  CUmemAccessDesc access{};
  access.location = location_of(std::get<int>(device));
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return driver().failure("cuMemSetAccess", driver().set_access(start_ + static_cast<uint64_t>(offset),
                                                                static_cast<size_t>(bytes), &access, 1));
}

std::variant<CudaExtent, std::string> extent_of(int64_t numel, int64_t element_bytes, const IndexReach& reach) {
  const std::string too_large = fmt::format("a tensor of {} elements does not fit in the address space", numel);
  constexpr int64_t kLargest = int64_t{1} << 56;
  const auto tensor = checked_mul(numel, element_bytes);
  const auto before = checked_mul(reach.before, element_bytes);
  const auto end = checked_mul(reach.end, element_bytes);
  if (numel < 1 || !tensor || !before || !end) return too_large;
  if (*tensor > kLargest || *before > kLargest || *end > kLargest) return too_large;
  CudaExtent extent;
  extent.before = round_up(*before, kPageBytes) + kPageBytes;
  extent.mapped = round_up(*tensor, kPageBytes);
  extent.end = std::max(round_up(*end, kPageBytes), extent.mapped) + kPageBytes;
  return extent;
}

std::variant<CudaDenseTensor, std::string> CudaDenseTensor::create(int64_t numel, int64_t element_bytes,
                                                                   const IndexReach& reach) {
  auto extent = extent_of(numel, element_bytes, reach);
  if (auto* error = std::get_if<std::string>(&extent)) return std::move(*error);
  const auto [before, mapped, end] = std::get<CudaExtent>(extent);
  auto reserved = CudaAddressRange::reserve(before + end);
  if (auto* error = std::get_if<std::string>(&reserved)) return std::move(*error);
  auto created = CudaPhysical::create(mapped);
  if (auto* error = std::get_if<std::string>(&created)) return std::move(*error);
  auto& range = std::get<CudaAddressRange>(reserved);
  auto& memory = std::get<CudaPhysical>(created);
  if (auto error = range.map(before, memory)) return *error;
  if (auto error = range.allow_access(before, mapped)) return *error;
  CudaTensor tensor;
  tensor.data = device_pointer(range.start() + static_cast<uint64_t>(before));
  tensor.pieces.push_back({0, mapped / element_bytes, PieceKind::kOwn});
  tensor.mappings = range.mappings();
  tensor.physical_bytes = mapped;
  return CudaDenseTensor(std::move(range), std::move(memory), std::move(tensor));
}

}  // namespace brink
