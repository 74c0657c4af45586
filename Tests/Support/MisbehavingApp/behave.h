// Does what a good app does with a heart-rate belt, until so many values came; for ever when `values` is negative.
// Writes each value, as base64, as a line to the file `values` in its directory.
void behave(int socket, long values);
