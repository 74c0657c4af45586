import UIKit

// What the benchmark of calls wakes: an app whose first line after bytes came says when that was. With the argument
// `activated` it is what systemd-socket-activate launches for the same bytes, and does nothing but say when it began.

if CommandLine.arguments.last == "activated" {
    _ = unsafe send(0, stamp(), 8, 0)
    exit(0)
}
AppDelegate.main()
