/// Gives each name a number, once, in the order in which names are first seen.
///
/// The journal keeps the table, so that numbers mean the same after a restart.
package final class NameTable {
    private var numbers: [String: UInt32] = [:]
    private var names: [String] = [""]

    package init() {}

    /// How many names there are, with the empty one.
    package var count: Int { names.count }

    /// The number of a name; the empty name is ``NameID/none``.
    package func intern(_ name: String) -> NameID {
        if name.isEmpty { return .none }
        if let number = numbers[name] { return NameID(number) }
        let number = UInt32(names.count)
        numbers[name] = number
        names.append(name)
        return NameID(number)
    }

    /// The number of a name that was interned before.
    package func known(_ name: String) -> NameID? {
        numbers[name].map(NameID.init)
    }

    /// The text of a number that this table gave out; a precondition failure otherwise.
    package func text(_ id: NameID) -> String {
        precondition(Int(id.number) < names.count, "name \(id.number) was never interned")
        return names[Int(id.number)]
    }
}
