// What Swift cannot import, and the child side of fork. Each function says why it exists.
#pragma once
