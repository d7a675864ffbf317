// Copies one level. `make kernel` compiles it to kernel.ptx.
#pragma clang force_cuda_host_device begin
#include "plan/device/item.hpp"
#pragma clang force_cuda_host_device end

extern "C" __attribute__((global)) void parhelion_copy(const parhelion::device::Launch launch) {
  const long long threads =
      static_cast<long long>(__nvvm_read_ptx_sreg_nctaid_x()) * __nvvm_read_ptx_sreg_ntid_x();
  long long item =
      static_cast<long long>(__nvvm_read_ptx_sreg_ctaid_x()) * __nvvm_read_ptx_sreg_ntid_x() +
      __nvvm_read_ptx_sreg_tid_x();
  for (; item < launch.items; item += threads) parhelion::device::run_item(launch, item);
}
