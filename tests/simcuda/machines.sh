#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Which device is opened on which machine, on the simulated CUDA, and how often NVIDIA's management
# library is started and asked for a device: a table of the devices on the bus, of settings, and of
# what tests/simcuda/machines prints.  Only rows with a star run without TENON_TEST_WHOLE=1.  Each
# "#: " is a kind of machine in tenon-cuda(7), MACHINES, which shows texts of these rows.
# shellcheck source=../skip.sh
. "${TENON_SOURCE:?}/tests/skip.sh"
if [ -z "${TENON_TEST_SIMULATED:-}" ]; then
	needs_simulated_cuda
	TENON_TEST_SIMULATED=1 exec "${TENON_BUILD:?}/tests/with-simcuda" sh "$0"
fi
# shellcheck source=../cli/lib.sh
. "$TENON_SOURCE/tests/cli/lib.sh"
[ ! -e /proc/driver/nvidia ] || skip 'the files of an installed driver list real GPUs'
unset TENON_MEMORY_LIMIT TENON_PROFILE

# Of the cards below: the first and the second on the bus.
first=GPU-73696d75-6c61-7465-6420-435544412300
second=GPU-74696d75-6c61-7465-6420-435544412301
slice=MIG-73696d75-6c61-7465-6420-435544412f00

simulated=$TENON_BUILD/tests/simcuda/.libs
failed=0
rows=0
# Counts: starts of the management library, handles of devices asked of it, contexts made.
while IFS='|' read -r models settings expected counts; do
	case $models in '#'* | '') continue ;; esac
	[ "${models#\*}" != "$models" ] || is_whole || continue
	models=${models#\*}
	rows=$((rows + 1))
	rm -f "$dir/calls"
	# shellcheck disable=SC2086
	eval env SIMCUDA_MODELS="$models" SIMCUDA_SITES="$dir/calls" TENON_LOG=notice $settings \
		'"$TENON_BUILD/tests/simcuda/machines"' >"$dir/out" 2>&1
	: >>"$dir/calls"
	echo "started $(grep -c '^nvmlInit' "$dir/calls")," \
		"asked $(grep -c '^nvmlDeviceGetHandle' "$dir/calls")," \
		"contexts $(grep -c '^cudaMemGetInfo' "$dir/calls")" >>"$dir/out"
	if grep -qF -e "$expected" "$dir/out" && grep -q -e "^${counts:-started}" "$dir/out"; then
		continue
	fi
	printf 'FAILED: %s %s\n  expected %s %s\n' "$models" "$settings" "$expected" "$counts"
	sed 's/^/  /' "$dir/out"
	failed=1
done <<EOT
#: Unlike GPUs
# In both orders: CUDA numbers the faster one 0.
*t400,a100||cuda:1 NVIDIA A100 80GB PCIe, discrete, 80.0 GiB; CUDA's 0 at 0000:02:00.0
a100,t400||cuda:0 NVIDIA A100 80GB PCIe, discrete, 80.0 GiB; CUDA's 0 at 0000:01:00.0
*t400,a100|CUDA_VISIBLE_DEVICES=0|\
cuda:0 NVIDIA A100 80GB PCIe, discrete, 80.0 GiB; CUDA's 0 at 0000:02:00.0
*t400,a100|CUDA_VISIBLE_DEVICES=1|\
cuda:0 NVIDIA T400 4GB, discrete, 4.0 GiB; CUDA's 0 at 0000:01:00.0
a100,t400|CUDA_VISIBLE_DEVICES=0|\
cuda:0 NVIDIA A100 80GB PCIe, discrete, 80.0 GiB; CUDA's 0 at 0000:01:00.0
a100,t400|CUDA_VISIBLE_DEVICES=1|cuda:0 NVIDIA T400 4GB, discrete, 4.0 GiB; CUDA's 0 at 0000:02:00.0
t400,a100|CUDA_VISIBLE_DEVICES=0 CUDA_DEVICE_ORDER=PCI_BUS_ID|\
cuda:0 NVIDIA T400 4GB, discrete, 4.0 GiB; CUDA's 0 at 0000:01:00.0
t400,a100|CUDA_VISIBLE_DEVICES=1 CUDA_DEVICE_ORDER=PCI_BUS_ID|\
cuda:0 NVIDIA A100 80GB PCIe, discrete, 80.0 GiB; CUDA's 0 at 0000:02:00.0
t400,a100|CUDA_VISIBLE_DEVICES=$first|\
cuda:0 NVIDIA T400 4GB, discrete, 4.0 GiB; CUDA's 0 at 0000:01:00.0
t400,a100|CUDA_VISIBLE_DEVICES=$second|\
cuda:0 NVIDIA A100 80GB PCIe, discrete, 80.0 GiB; CUDA's 0 at 0000:02:00.0
t400,a100|CUDA_VISIBLE_DEVICES=GPU-74|\
cuda:0 NVIDIA A100 80GB PCIe, discrete, 80.0 GiB; CUDA's 0 at 0000:02:00.0
t400,a100|CUDA_VISIBLE_DEVICES=GPU-73,GPU-74|\
NVIDIA A100 80GB PCIe, discrete, 80.0 GiB; CUDA's 1 at 0000:02:00.0
t400,a100|CUDA_VISIBLE_DEVICES=0,1 TENON_BACKEND=cuda:0|cuda:0 NVIDIA 
#: CUDA_VISIBLE_DEVICES hides all
t400,a100|CUDA_VISIBLE_DEVICES= TENON_BACKEND=cuda|CUDA_VISIBLE_DEVICES= leaves none of 2 GPUs
t400,a100|CUDA_VISIBLE_DEVICES=7 TENON_BACKEND=cuda|CUDA_VISIBLE_DEVICES=7 leaves none of 2 GPUs
#: A large GPU beside a newer one
*a100,rtx3050||cuda:0 NVIDIA A100 80GB PCIe, discrete, 80.0 GiB; CUDA's 0 at 0000:01:00.0
rtx3050,a100||cuda:1 NVIDIA A100 80GB PCIe, discrete, 80.0 GiB; CUDA's 0 at 0000:02:00.0
a100,rtx5060||cuda:0 NVIDIA A100 80GB PCIe
l4,a100||cuda:1 NVIDIA A100 80GB PCIe
rtx5060,h100||cuda:1 NVIDIA H100 PCIe
h100,b200,rtx5060||cuda:1 NVIDIA B200
#: A GPU of compute capability below 7.5
v100,t400|SIMCUDA_DRIVER=12080|cuda:1 NVIDIA T400 4GB, discrete, 4.0 GiB; CUDA's 1 at 0000:02:00.0
v100|SIMCUDA_DRIVER=12080 TENON_BACKEND=cuda|has compute capability 7.0, expected at least 7.5
#: A GPU in MIG mode
# A slice has its own memory, of which a share is taken.
# Its name and identity are its own, or none.
*a100/10|TENON_MEMORY_LIMIT=50%|cuda:0 NVIDIA A100 80GB PCIe, a MIG slice, discrete, 10.0 GiB, \
limit 5.0 GiB; CUDA's 0 at 0000:01:00.0
a100/10|TENON_BACKEND=uuid:$first|no backend has such a device
a100/10|CUDA_VISIBLE_DEVICES=$slice TENON_BACKEND=uuid:$slice|, discrete, 10.0 GiB
a100/10|CUDA_VISIBLE_DEVICES=0 TENON_MEMORY_LIMIT=50%|\
, discrete, 10.0 GiB, limit 5.0 GiB; CUDA's 0 at 0000:01:00.0
a100/10|CUDA_VISIBLE_DEVICES=$slice TENON_MEMORY_LIMIT=50%|\
, discrete, 10.0 GiB, limit 5.0 GiB; CUDA's 0 at 0000:01:00.0
a100/10|CUDA_VISIBLE_DEVICES=MIG-$first/1/0 TENON_MEMORY_LIMIT=50%|\
, discrete, 10.0 GiB, limit 5.0 GiB; CUDA's 0 at 0000:01:00.0
t400,a100/20|TENON_MEMORY_LIMIT=50%|, discrete, 20.0 GiB, limit 10.0 GiB; CUDA's 0 at 0000:02:00.0
a100/10|SIMCUDA_NVML_UNSUPPORTED=nvmlDeviceGetMemoryInfo|\
, discrete, 10.0 GiB; CUDA's 0 at 0000:01:00.0
#: Unified memory, as of Jetson and GB10
*gb10|TENON_MEMORY_LIMIT=50%|\
cuda:0 NVIDIA GB10, integrated, 119.0 GiB, limit 59.5 GiB; CUDA's 0 at 0000:01:00.0
gb10|SIMCUDA_NVML_UNSUPPORTED=nvmlDeviceGetMemoryInfo,nvmlDeviceGetPciInfo_v3 \
TENON_MEMORY_LIMIT=50%|\
cuda:0 NVIDIA GB10, integrated, 119.0 GiB, limit 59.5 GiB; CUDA's 0 at 0000:01:00.0
orin|SIMCUDA_NVML_UNSUPPORTED=nvmlDeviceGetPciInfo_v3,nvmlDeviceGetUUID,nvmlDeviceGetCudaComputeCa\
pability|cuda:0 Orin, integrated, 61.0 GiB; CUDA's 0 at 0000:01:00.0
#: A management library that tells little
*t400,a100|SIMCUDA_MISSING=nvmlDeviceGetNumGpuCores,nvmlDeviceGetMaxClockInfo|\
cuda:1 NVIDIA A100 80GB PCIe
t400,a100|SIMCUDA_NVML_UNSUPPORTED=nvmlDeviceGetNumGpuCores,nvmlDeviceGetMaxClockInfo|\
cuda:1 NVIDIA A100 80GB PCIe
t400,a100|SIMCUDA_NVML_UNSUPPORTED=nvmlDeviceGetName|discrete, 80.0 GiB; CUDA's 0 at 0000:02:00.0
t400,a100|SIMCUDA_NVML_UNSUPPORTED=nvmlDeviceGetUUID|cuda:1 NVIDIA A100 80GB PCIe
# It needs to list the devices, and no more.
*t400|SIMCUDA_MISSING=nvmlDeviceGetClockInfo,nvmlDeviceGetTemperature,nvmlDeviceGetPowerUsage,\
nvmlDeviceGetMigMode|cuda:0 NVIDIA T400 4GB, discrete, 4.0 GiB; CUDA's 0 at 0000:01:00.0
t400|SIMCUDA_MISSING=nvmlDeviceGetHandleByPciBusId_v2|cuda:0 NVIDIA T400 4GB, discrete, 4.0 GiB
*t400,a100|SIMCUDA_MISSING=nvmlSystemGetDriverVersion,nvmlSystemGetCudaDriverVersion_v2,\
nvmlDeviceGetName,nvmlDeviceGetUUID,nvmlDeviceGetPciInfo_v3,nvmlDeviceGetCudaComputeCapability,\
nvmlDeviceGetHandleByPciBusId_v2,nvmlDeviceGetNumGpuCores,nvmlDeviceGetMaxClockInfo,\
nvmlDeviceGetMigMode|cuda:1 NVIDIA GPU, discrete, 4.0 GiB; CUDA's 1 at 0000:01:00.0
*t400|SIMCUDA_MISSING=nvmlDeviceGetCount_v2 TENON_BACKEND=cuda|\
MISSING_LIBRARY: $simulated/libnvidia-ml.so.1 (NVIDIA's management library) has no \
nvmlDeviceGetCount_v2: expected that of driver 525 or later
t400|SIMCUDA_MISSING=nvmlDeviceGetHandleByIndex_v2 TENON_BACKEND=cuda|\
has no nvmlDeviceGetHandleByIndex_v2: expected that of driver 525 or later
t400|SIMCUDA_MISSING=nvmlInit_v2 TENON_BACKEND=cuda|has no nvmlInit_v2: expected that of driver 525
t400|SIMCUDA_FAIL=nvmlInit_v2:1=999 TENON_BACKEND=cuda|\
the NVIDIA driver does not answer: Unknown Error (NVML 999)
#: A driver that is slow to wake
# It is not asked by a selection that cannot take a GPU, and else once for each device.
*t400,a100|SIMCUDA_NVML_SLOW=0.7 TENON_BACKEND=cpu|cpu:0|started 0, asked 0, contexts 0
*t400,a100|SIMCUDA_NVML_SLOW=0.7 TENON_BACKEND=cpu!|cpu:0|started 0, asked 0, contexts 0
t400,a100|SIMCUDA_NVML_SLOW=0.7 TENON_BACKEND=reference!|reference:0|started 0, asked 0, contexts 0
t400,a100|SIMCUDA_NVML_SLOW=0.7 TENON_BACKEND=^cuda|cpu:0|started 0, asked 0, contexts 0
*t400,a100|SIMCUDA_NVML_SLOW=0.05|cuda:1 NVIDIA A100 80GB PCIe|started 1, asked 2, contexts 1
t400,a100|SIMCUDA_NVML_SLOW=0.05 TENON_BACKEND=cuda|cuda:1 NVIDIA A100 80GB PCIe|\
started 1, asked 2, contexts 1
#: A GPU newer than the compiler
*t400|SIMCUDA_DEVICES=2 SIMCUDA_ARCH=130 SIMCUDA_MULTIPROCESSORS=200 MACHINES_COMPUTE=1|\
cuda:1 Simulated CUDA device sm_130, discrete, 1.0 GiB; CUDA's 0 at 0000:02:00.0; computes 3
#: A compiler older than the runtime
*a100|SIMCUDA_DRIVER=12080 SIMCUDA_NVRTC=12010 TENON_CACHE_DIR= MACHINES_COMPUTE=1|computes 3
a100|SIMCUDA_DRIVER=12080 MACHINES_COMPUTE=1|computes 3
a100|MACHINES_COMPUTE=1|computes 3
#: Without a driver
# Nothing is asked for.
t400|SIMCUDA_DRIVER=0 TENON_BACKEND=cuda|\
the NVIDIA driver does not answer: Driver Not Loaded (NVML 9)|started 1, asked 0
EOT
echo "$rows rows"
exit $failed
