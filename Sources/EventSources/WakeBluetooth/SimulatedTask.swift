/// Something that the simulated radio has to do later. Its generation tells the owner whether it still means anything.
struct SimulatedTask: Codable {
    /// What it is about; which number it carries is the owner's business.
    enum Kind: UInt8, Codable {
        case sighting
        case connection
        case answer
        case notification
        case linkLoss
        case prepared
        case channelValue
        case channelRoom
        case beacon
        case reaction
    }

    var kind: Kind
    var index: Int32
    var generation: UInt32
}
