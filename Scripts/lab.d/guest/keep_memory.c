/* For btvirt of BlueZ 5.66, which uses the timers of an inquiry after it has freed them, whenever an inquiry ends by itself
   (inquiry_destroy frees the timer whose callback it is called from, and one whose event the main loop may still hold). It
   lives for minutes and frees little, so it keeps everything. */

void free(void *memory) { (void)memory; }
