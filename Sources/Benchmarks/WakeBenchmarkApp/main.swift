import Foundation

let stamps = Stamps()
stamps.write(.main)
if isMeasuringSpawn { exit(0) }
AppDelegate.main()
