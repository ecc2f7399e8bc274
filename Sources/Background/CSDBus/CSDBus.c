// SPDX-License-Identifier: Apache-2.0
#include "CSDBus.h"

#include <dlfcn.h>
#include <pthread.h>

struct ocn_bus_functions ocn_bus;

static const char *missing;

#define FIND(type, name, parameters, arguments) \
    if ((ocn_bus.name = dlsym(library, "sd_bus_" #name)) == NULL) missing = "sd_bus_" #name;

static void load(void) {
    void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        missing = "";
        return;
    }
    OCN_BUS_FUNCTIONS(FIND)
}

const char *ocn_bus_missing(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return missing;
}
