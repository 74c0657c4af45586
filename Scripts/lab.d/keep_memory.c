/* For btvirt of BlueZ 5.66, which goes on with what it has freed: when an inquiry ends by itself, the timer of its answers is
   freed while the main loop may still hold an event of it, and now and then that is the end of btvirt. It lives for minutes
   and frees little, so it keeps everything. Its memory is what the kernel gives, and goes with it. */

void free(void *memory) { (void)memory; }
