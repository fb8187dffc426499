#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/transform.h>

#include "async_pipeline.h"

struct Shade {
    __device__ float operator()(float v) const { return shade(v); }
};

void async_pipeline(const float* in, float* out, std::size_t size) {
    static thrust::device_vector<float>* values = new thrust::device_vector<float>();
    values->assign(in, in + size);
    thrust::transform(values->begin(), values->end(), values->begin(), Shade{});
    thrust::copy(values->begin(), values->end(), out);
}
