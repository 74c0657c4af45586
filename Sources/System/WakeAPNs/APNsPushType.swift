/// The values of apns-push-type.
package enum APNsPushType: String, CaseIterable, Sendable {
    case alert
    case background
    case complication
    case controls
    case fileProvider = "fileprovider"
    case liveActivity = "liveactivity"
    case location
    case mdm
    case pushToTalk = "pushtotalk"
    case voip
    case widgets

    /// What follows the bundle identifier in the topic of such a push, by Apple's "Sending notification requests to APNs"; nil
    /// where the bundle identifier, or for ``mdm`` another name, is all of it.
    package var topicSuffix: String? {
        switch self {
        case .alert, .background, .mdm: nil
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileProvider: ".pushkit.fileprovider"
        case .liveActivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushToTalk: ".voip-ptt"
        case .voip: ".voip"
        case .widgets: ".push-type.widgets"
        }
    }
}
