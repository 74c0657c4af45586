/// Who has the places of a server, by the descriptors of their connections.
///
/// There is always one for whoever comes: it is taken from the connection that has waited longest for a whole request, because
/// anybody can say half of one and stay.
struct HTTPPlaces {
    /// Connections at once, after which one that waits is given up for each that comes.
    let most: Int
    /// Those whose request is being answered, at most; less than ``most``.
    let mostBusy: Int
    /// In the order in which they began to wait.
    private var waiting: [Int32] = []
    private var busy: Set<Int32> = []

    init(most: Int, mostBusy: Int) { (self.most, self.mostBusy) = (most, mostBusy) }

    /// Somebody has connected.
    ///
    /// - Returns: the connection that is to end for it.
    mutating func came(_ connection: Int32) -> Int32? {
        waiting.append(connection)
        return waiting.count + busy.count > most ? waiting.removeFirst() : nil
    }

    /// The whole of a request has come.
    ///
    /// - Returns: false when too many others are being answered.
    mutating func begins(_ connection: Int32) -> Bool {
        guard busy.count < mostBusy else { return false }
        waiting.removeAll { $0 == connection }
        busy.insert(connection)
        return true
    }

    /// A request has been answered; the connection may have another.
    mutating func ended(_ connection: Int32) {
        if busy.remove(connection) != nil { waiting.append(connection) }
    }

    /// The connection is gone.
    mutating func left(_ connection: Int32) {
        waiting.removeAll { $0 == connection }
        busy.remove(connection)
    }
}
