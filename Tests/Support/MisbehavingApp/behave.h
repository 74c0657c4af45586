// Does what a good app does with a heart-rate belt, until so many values came; for ever when `values` is negative.
// Writes each value, as base64, as a line to the file `values` in its directory.
void behave(int socket, long values);

// What it says beside that once it has launched; NULL for nothing.
extern const char *says_after_launch;
// Whether it says that it draws when it has entered the background.
extern int draws_in_background;
