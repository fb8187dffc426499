"""Names under which compilers, systems and GPU toolkits keep their own headers and modules."""

import sys

_CPP = """
algorithm any array atomic barrier bit bitset cassert ccomplex cctype cerrno cfenv cfloat charconv chrono cinttypes
ciso646 climits clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdalign
cstdarg cstdbool cstddef cstdint cstdio cstdlib cstring ctgmath ctime cuchar cwchar cwctype deque exception execution
expected filesystem flat_map flat_set format forward_list fstream functional future generator initializer_list iomanip
ios iosfwd iostream istream iterator latch limits list locale map mdspan memory memory_resource mutex new numbers
numeric optional ostream print queue random ranges ratio regex scoped_allocator semaphore set shared_mutex
source_location span spanstream sstream stack stacktrace stdexcept stdfloat stop_token streambuf string string_view
strstream syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility
valarray variant vector version
"""
_C = """
aio.h alloca.h assert.h complex.h cpuid.h ctype.h dirent.h dlfcn.h endian.h errno.h execinfo.h fcntl.h features.h
fenv.h float.h getopt.h immintrin.h inttypes.h iso646.h libgen.h limits.h locale.h malloc.h math.h memory.h omp.h
poll.h pthread.h sched.h semaphore.h setjmp.h signal.h spawn.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h
stdint.h stdio.h stdlib.h stdnoreturn.h string.h strings.h tgmath.h threads.h time.h uchar.h ucontext.h unistd.h
wchar.h wctype.h x86intrin.h xmmintrin.h emmintrin.h
"""
_CUDA = """
builtin_types.h channel_descriptor.h common_functions.h cooperative_groups.h cuComplex.h cublas.h cublasLt.h
cublasXt.h cublas_api.h cublas_v2.h cuda.h cudaGL.h cudaProfiler.h cudaTypedefs.h cuda_awbarrier.h
cuda_awbarrier_helpers.h cuda_awbarrier_primitives.h cuda_bf16.h cuda_bf16.hpp cuda_device_runtime_api.h
cuda_fp16.h cuda_fp16.hpp cuda_fp4.h cuda_fp4.hpp cuda_fp6.h cuda_fp6.hpp cuda_fp8.h cuda_fp8.hpp
cuda_gl_interop.h cuda_occupancy.h cuda_pipeline.h cuda_pipeline_helpers.h cuda_pipeline_primitives.h
cuda_profiler_api.h cuda_runtime.h cuda_runtime_api.h cuda_surface_types.h cuda_texture_types.h cuda_vdpau_interop.h
cudart_platform.h cudnn.h cudnn_adv.h cudnn_backend.h cudnn_cnn.h cudnn_frontend.h cudnn_graph.h cudnn_ops.h
cudnn_version.h cufft.h cufftXt.h cufftw.h cufile.h cupti.h curand.h curand_kernel.h cusolverDn.h cusolverMg.h
cusolverRf.h cusolverSp.h cusolver_common.h cusparse.h cusparse_v2.h cusparseLt.h device_atomic_functions.h
device_double_functions.h device_functions.h device_launch_parameters.h device_types.h driver_functions.h
driver_types.h fatbinary_section.h host_config.h host_defines.h library_types.h math_constants.h math_functions.h
mma.h nccl.h npp.h nvJitLink.h nvjpeg.h nvml.h nvPTXCompiler.h nvrtc.h nvToolsExt.h nvToolsExtCuda.h
nvToolsExtCudaRt.h sm_20_atomic_functions.h sm_20_intrinsics.h sm_30_intrinsics.h sm_32_atomic_functions.h
sm_32_intrinsics.h sm_35_atomic_functions.h sm_35_intrinsics.h sm_60_atomic_functions.h sm_61_intrinsics.h
surface_functions.h surface_indirect_functions.h surface_types.h texture_fetch_functions.h
texture_indirect_functions.h texture_types.h vector_functions.h vector_functions.hpp vector_types.h
"""
_FOLDERS = """
arpa asm asm-generic backward bits boost c++ catch2 cg cooperative_groups crt cub cuda cudnn_frontend cute cutlass
debug decimal experimental ext fmt gnu gtest linux machine net netinet nv nvtx3 parallel pstl rpc sys tbb thrust
"""
_PACKAGES = """
cuda cupy cupyx jax jaxlib llvmlite mpmath numba numpy nvtx packaging pandas pip pkg_resources pluggy pytest scipy
setuptools sitecustomize sklearn sympy torch torchvision triton typing_extensions usercustomize _pytest
"""

SYSTEM_HEADERS = frozenset((_CPP + _C + _CUDA).split())
SYSTEM_FOLDERS = frozenset(_FOLDERS.split())
# Names that an honest solution may well use and that no harness depends on.
_HARMLESS_MODULES = frozenset({"test", "code", "cmd", "this", "turtle", "antigravity"})
PYTHON_PACKAGES = frozenset(_PACKAGES.split())
SYSTEM_MODULES = PYTHON_PACKAGES | (sys.stdlib_module_names - _HARMLESS_MODULES)


def is_system_header(name: str) -> bool:
    """Whether `#include <name>` is known to mean a header of the compiler, the system or a GPU toolkit."""
    return name in SYSTEM_HEADERS or ("/" in name and name.partition("/")[0] in SYSTEM_FOLDERS)
