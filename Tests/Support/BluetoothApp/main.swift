import CoreBluetooth

// Prints a line for everything that its managers tell, and does what its arguments say then: `poweredOn=scan,name` means
// that it scans and prints the name when the state is powered on, `didWriteValue none=write` that it writes again when a write
// went well. `central` and `peripheral` make a manager at the start.

func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

/// What an error is to code that asks for its kind.
func text(_ error: (any Error)?) -> String {
    switch error {
    case nil: "none"
    case let error as CBError: "CBError.\(error.code)"
    case let error as CBATTError: "CBATTError.\(error.code)"
    case let error?: "\(error)"
    }
}

func hexadecimal(_ data: Data?) -> String {
    data.map { $0.map { String(format: "%02x", $0) }.joined() } ?? "nil"
}

var script: [String: [String]] = [:]
for argument in CommandLine.arguments.dropFirst() {
    let halves = argument.split(separator: "=", maxSplits: 1).map(String.init)
    script[halves[0]] = halves.count > 1 ? halves[1].split(separator: ",").map(String.init) : []
}

let central = script["central"].map { CentralEnd(script: script, restoreIdentifier: $0.first) }
let peripheral = script["peripheral"].map { words in
    let isRestored = words.first != nil || script["restoring"] != nil
    let end = isRestored ? RestoredPeripheralEnd.self : UnrestoredPeripheralEnd.self as PeripheralEnd.Type
    return end.init(script: script, restoreIdentifier: words.first)
}
while true { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
