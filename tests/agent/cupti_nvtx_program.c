/* Opens NVTX ranges in every way there is; its argument says how. Needs no GPU. */
#define _GNU_SOURCE
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void nap(void) { usleep(5000); }

static nvtxEventAttributes_t attributes(void) {
    nvtxEventAttributes_t made;
    memset(&made, 0, sizeof made);
    made.version = NVTX_VERSION;
    made.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    return made;
}

static void kinds(void) {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("domain");
    nvtxDomainHandle_t wide_domain = nvtxDomainCreateW(L"wide domain");
    nvtxEventAttributes_t event = attributes();
    nvtxRangeId_t started;
    nvtxRangePushA("push ascii"), nap(), nvtxRangePop();
    nvtxRangePushW(L"push wide \u65e5"), nap(), nvtxRangePop();
    event.messageType = NVTX_MESSAGE_TYPE_ASCII, event.message.ascii = "push attributes";
    nvtxRangePushEx(&event), nap(), nvtxRangePop();
    event.message.ascii = "null domain";
    nvtxDomainRangePushEx(NULL, &event), nap(), nvtxDomainRangePop(NULL);
    event.messageType = NVTX_MESSAGE_TYPE_UNICODE, event.message.unicode = L"domain wide";
    nvtxDomainRangePushEx(wide_domain, &event), nap(), nvtxDomainRangePop(wide_domain);
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, "registered");
    nvtxDomainRangePushEx(domain, &event), nap(), nvtxDomainRangePop(domain);
    event.message.registered = nvtxDomainRegisterStringW(domain, L"registered wide");
    nvtxDomainRangePushEx(domain, &event), nap(), nvtxDomainRangePop(domain);
    started = nvtxRangeStartA("start ascii"), nap(), nvtxRangeEnd(started);
    started = nvtxRangeStartW(L"start wide"), nap(), nvtxRangeEnd(started);
    event.messageType = NVTX_MESSAGE_TYPE_ASCII, event.message.ascii = "start in domain";
    started = nvtxDomainRangeStartEx(domain, &event), nap(), nvtxDomainRangeEnd(domain, started);
    nvtxDomainDestroy(domain);
}

static void oddities(void) {
    nvtxEventAttributes_t event = attributes();
    nvtxRangePop();
    nvtxRangeEnd(12345);
    nvtxRangePushA(NULL), nvtxRangePushEx(NULL), nvtxRangePushEx(&event);
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED, event.message.registered = (nvtxStringHandle_t)0xdeadbeef;
    nvtxRangePushEx(&event);
    nvtxRangePushA("level is four");
    if (nvtxRangePop() != 4) abort();
    nvtxRangePushA("say \"hi\"\n\\ \xff"), nvtxRangePop();
    nvtxRangePushA("left open");
}

static void* in_thread(void* name) {
    nvtxRangePushA(name), nap(), nvtxRangePop();
    return NULL;
}

static void threads(void) {
    pthread_t made[4];
    for (int i = 0; i < 4; ++i) pthread_create(&made[i], NULL, in_thread, "shared");
    for (int i = 0; i < 4; ++i) pthread_join(made[i], NULL);
}

static void forks(void) {
    nvtxRangePushA("parent");
    if (fork() == 0) {
        nvtxRangePop(); /* is the parent's, not ours */
        nvtxRangePushA("child"), nap(), nvtxRangePop();
        exit(0);
    }
    wait(NULL);
    nvtxRangePop();
}

static void many(void) {
    for (int i = 0; i < 200000; ++i) nvtxRangePushA("many"), nvtxRangePop();
}

int main(int count, char** words) {
    const char* how = count > 1 ? words[1] : "";
    if (!strcmp(how, "kinds")) kinds();
    if (!strcmp(how, "oddities")) oddities();
    if (!strcmp(how, "threads")) threads();
    if (!strcmp(how, "forks")) forks();
    if (!strcmp(how, "many")) many();
    if (!strcmp(how, "quick")) nvtxRangePushA("before quick_exit"), nvtxRangePop(), quick_exit(0);
    if (!strcmp(how, "plain")) in_thread("plain");
    puts("done");
    return 0;
}
