#pragma once

#pragma clang assume_nonnull begin

// What `@UIApplicationMain` calls. Swift code calls the function of the Swift half, which takes strings.
int UIApplicationMain(int argc, char *_Nullable *_Nonnull argv, void *_Nullable principalClassName,
                      void *_Nullable delegateClassName)
    __attribute__((availability(swift, unavailable, message = "call the one that takes strings")));

#pragma clang assume_nonnull end
