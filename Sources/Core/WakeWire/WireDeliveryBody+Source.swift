extension WireDeliveryBody {
    /// The source that such deliveries come from.
    package var source: String {
        switch self {
        case .location: "location"
        case .voip: "voip"
        case .accessory: "accessory"
        default: "bluetooth"
        }
    }
}
