// Where UserDefaults on Linux puts a value, which Swift cannot take the place of.
#pragma once

#include <stdbool.h>

// Puts a value where Foundation looks for it, without keeping it: a CFString, a property list or NULL for none, and the
// CFString of a suite or NULL for the application's own. Says whether another value was there, or none.
bool wake_defaults_put(const void *key, const void *value, const void *suite);

// Between two calls what the calling thread sets is put where Foundation looks for it, and not kept.
void wake_defaults_bring(bool begins);
