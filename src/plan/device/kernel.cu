// Copies one level. `make kernel` compiles it for NVIDIA's and AMD's devices.
#pragma clang force_cuda_host_device begin
#include "plan/device/item.hpp"
#pragma clang force_cuda_host_device end

#ifdef __AMDGCN__
// Threads of a block and the number of all threads are known without reading the hidden arguments,
// whose places depend on the version of code objects.
__attribute__((amdgpu_flat_work_group_size(1, parhelion::device::threads_of_block)))
#endif
extern "C" __attribute__((global)) void parhelion_copy(const parhelion::device::Launch launch) {
#ifdef __AMDGCN__
  const long long threads = __builtin_amdgcn_grid_size_x();
  long long item = static_cast<long long>(__builtin_amdgcn_workgroup_id_x()) *
                       parhelion::device::threads_of_block +
                   __builtin_amdgcn_workitem_id_x();
#else
  const long long threads =
      static_cast<long long>(__nvvm_read_ptx_sreg_nctaid_x()) * __nvvm_read_ptx_sreg_ntid_x();
  long long item =
      static_cast<long long>(__nvvm_read_ptx_sreg_ctaid_x()) * __nvvm_read_ptx_sreg_ntid_x() +
      __nvvm_read_ptx_sreg_tid_x();
#endif
  for (; item < launch.items; item += threads) parhelion::device::run_item(launch, item);
}
