// The NVTX side. Every copy of NVTX in a process calls InitializeInjectionNvtx2 once (NVTX_INJECTION64_PATH) and then
// calls the functions of this file for its ranges. Domains share one set of names; each has its own stack per thread.
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <deque>
#include <string>

#include "lock.h"
#include "process.h"
#include "text.h"

namespace podium {
namespace {

constexpr std::size_t MOST_STRINGS = 1 << 16;
constexpr int NO_LEVEL = -1;

// Handles are numbers, so that a wrong handle does no harm.
struct Strings {
    Mutex lock;
    std::deque<std::string> texts;
    std::uintptr_t domains = 0;
};

Strings& strings() {
    static Strings* const held = new Strings;  // never freed: threads may push during exit
    return *held;
}

nvtxStringHandle_t registered(std::string text) {
    Strings& its = strings();
    const Guard guard(its.lock);
    if (its.texts.size() >= MOST_STRINGS) return nullptr;
    its.texts.push_back(std::move(text));
    return reinterpret_cast<nvtxStringHandle_t>(its.texts.size());
}

// Null for an unknown handle. Texts never move, so the pointer stays valid.
const std::string* text_of(nvtxStringHandle_t handle) {
    Strings& its = strings();
    const Guard guard(its.lock);
    const auto number = reinterpret_cast<std::uintptr_t>(handle);
    return number >= 1 && number <= its.texts.size() ? &its.texts[number - 1] : nullptr;
}

// A range's name. `get` returns null if the range has none.
class Name {
public:
    explicit Name(const char* message) : given_(message) {
        if (message) own_ = clean(message);
    }
    explicit Name(const wchar_t* message) : given_(message) { own_ = narrow(message); }
    explicit Name(const nvtxEventAttributes_t* attributes) {
        if (!attributes) return;
        if (attributes->messageType == NVTX_MESSAGE_TYPE_ASCII && attributes->message.ascii) {
            own_ = clean(attributes->message.ascii), given_ = true;
        } else if (attributes->messageType == NVTX_MESSAGE_TYPE_UNICODE && attributes->message.unicode) {
            own_ = narrow(attributes->message.unicode), given_ = true;
        } else if (attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED) {
            held_ = text_of(attributes->message.registered);
        }
    }
    const std::string* get() const { return held_ ? held_ : given_ ? &own_ : nullptr; }

private:
    std::string own_;
    const std::string* held_ = nullptr;
    bool given_ = false;
};

template <class Message>
int push(nvtxDomainHandle_t domain, Message message) {
    Recorder* its = recorder();
    if (!its) return NO_LEVEL;
    const Name name(message);
    return its->push(this_thread(), reinterpret_cast<std::uintptr_t>(domain), name.get(), now());
}

int pop(nvtxDomainHandle_t domain) {
    const Moment at = now();
    Recorder* its = recorder();
    return its ? its->pop(this_thread(), reinterpret_cast<std::uintptr_t>(domain), at) : NO_LEVEL;
}

template <class Message>
nvtxRangeId_t start(Message message) {
    Recorder* its = recorder();
    if (!its) return 0;
    const Name name(message);
    return its->start(this_thread(), name.get(), now());
}

void end(nvtxRangeId_t id) {
    const Moment at = now();
    if (Recorder* its = recorder()) its->end(id, at);
}

int NVTX_API push_ascii(const char* message) { return push(nullptr, message); }
int NVTX_API push_wide(const wchar_t* message) { return push(nullptr, message); }
int NVTX_API push_attributes(const nvtxEventAttributes_t* attributes) { return push(nullptr, attributes); }
int NVTX_API pop_default() { return pop(nullptr); }
nvtxRangeId_t NVTX_API start_ascii(const char* message) { return start(message); }
nvtxRangeId_t NVTX_API start_wide(const wchar_t* message) { return start(message); }
nvtxRangeId_t NVTX_API start_attributes(const nvtxEventAttributes_t* attributes) { return start(attributes); }
void NVTX_API end_default(nvtxRangeId_t id) { end(id); }

int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
    return push(domain, attributes);
}
int NVTX_API domain_pop(nvtxDomainHandle_t domain) { return pop(domain); }
nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t, const nvtxEventAttributes_t* attributes) {
    return start(attributes);
}
void NVTX_API domain_end(nvtxDomainHandle_t, nvtxRangeId_t id) { end(id); }
nvtxStringHandle_t NVTX_API register_ascii(nvtxDomainHandle_t, const char* text) {
    return text ? registered(clean(text)) : nullptr;
}
nvtxStringHandle_t NVTX_API register_wide(nvtxDomainHandle_t, const wchar_t* text) {
    return text ? registered(narrow(text)) : nullptr;
}

nvtxDomainHandle_t make_domain() {
    Strings& its = strings();
    const Guard guard(its.lock);
    return reinterpret_cast<nvtxDomainHandle_t>(++its.domains);
}

nvtxDomainHandle_t NVTX_API create_domain_ascii(const char*) { return make_domain(); }
nvtxDomainHandle_t NVTX_API create_domain_wide(const wchar_t*) { return make_domain(); }

class Table {
public:
    Table(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module) {
        if (!callbacks.GetModuleFunctionTable(module, &functions_, &size_)) size_ = 0;
    }
    template <class Function>
    void set(unsigned id, Function* function) {
        if (id < size_ && functions_[id]) *functions_[id] = reinterpret_cast<NvtxFunctionPointer>(function);
    }

private:
    NvtxFunctionTable functions_ = nullptr;
    unsigned size_ = 0;
};

void attach(const NvtxExportTableCallbacks& callbacks) {
    Table core(callbacks, NVTX_CB_MODULE_CORE);
    core.set(NVTX_CBID_CORE_RangePushA, push_ascii);
    core.set(NVTX_CBID_CORE_RangePushW, push_wide);
    core.set(NVTX_CBID_CORE_RangePushEx, push_attributes);
    core.set(NVTX_CBID_CORE_RangePop, pop_default);
    core.set(NVTX_CBID_CORE_RangeStartA, start_ascii);
    core.set(NVTX_CBID_CORE_RangeStartW, start_wide);
    core.set(NVTX_CBID_CORE_RangeStartEx, start_attributes);
    core.set(NVTX_CBID_CORE_RangeEnd, end_default);
    Table domains(callbacks, NVTX_CB_MODULE_CORE2);
    domains.set(NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
    domains.set(NVTX_CBID_CORE2_DomainRangePop, domain_pop);
    domains.set(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start);
    domains.set(NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
    domains.set(NVTX_CBID_CORE2_DomainRegisterStringA, register_ascii);
    domains.set(NVTX_CBID_CORE2_DomainRegisterStringW, register_wide);
    domains.set(NVTX_CBID_CORE2_DomainCreateA, create_domain_ascii);
    domains.set(NVTX_CBID_CORE2_DomainCreateW, create_domain_wide);
}

}  // namespace
}  // namespace podium

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table) {
    podium::begin_recording();
    const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(export_table(NVTX_ETID_CALLBACKS));
    if (callbacks && callbacks->GetModuleFunctionTable) podium::attach(*callbacks);
    return 1;
}
