import WakeModel

/// The names that come from the air: addresses, beacons, services. Whoever is in reach makes up as many as he likes, so
/// they are bounded; what the scenario names has its names from the start.
final class AirNames {
    /// Where a line for people goes, once.
    var note: ((String) -> Void)?
    /// How often there was no name for something.
    private(set) var refused: UInt64 = 0
    private let names: NameTable
    private let most: Int
    private var bound: NameBound

    init(_ names: NameTable, most: Int) {
        self.names = names
        self.most = most
        bound = NameBound(most: most)
    }

    /// The name of something that was heard; nil when it is new and one too many.
    func name(_ text: String) -> NameID? {
        if let known = names.known(text) { return known }
        guard bound.admits([text], into: names) else {
            refused += 1
            if refused == 1 {
                note?(
                    "Bluetooth: more than \(most) different names came from the air in one run; devices, beacons and "
                        + "services that are new and not in the scenario are not heard from here on: begin a new run"
                )
            }
            return nil
        }
        return names.intern(text)
    }

    /// What is called by a device and something of it; the device's own name when there is none for that.
    func name(_ word: String, _ part: String, orElse device: NameID) -> NameID { name("\(word)/\(part)") ?? device }
}
