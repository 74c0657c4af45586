#include "CWakeShims.h"
