// A plug-in for alsa-lib that stands for a sound card: it keeps time, plays into a file, records from one, runs dry when it
// is not fed, and goes away when its plug is pulled. alsa-lib loads it by its file; nothing here is called from Swift.
//
//   pcm.card {
//       type paced
//       played "/path"      what was played, as it comes, behind what is there
//       heard "/path"       what is to be recorded; silence once it is over
//       plug "/path"        the card is there for as long as this file is
//       format S16          the one format that it has: FLOAT or S16
//       rate 48000          the one rate that it has
//   }
