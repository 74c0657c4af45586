import WakeAudio
import WakeBluetooth
import WakeExternalAccessory
import WakeLocation
import WakePorts
import WakeVoIP

extension Run {
    var bluetooth: any BluetoothCentralPort { sources.bluetooth }
    var peripheralRole: any BluetoothPeripheralPort { sources.peripheralRole }
    var location: any LocationPort { sources.location }
    var audio: any AudioPort { sources.audio }
    var accessory: any AccessoryPort { sources.accessory }
    var voip: any VoIPPort { sources.voip }

    /// The simulated ends among the run's.
    var simulated: SimulatedEnds {
        SimulatedEnds(
            scenario: scenario,
            radio: bluetooth as? SimulatedBluetooth,
            phones: peripheralRole as? SimulatedPeripheralRole,
            positions: location as? SimulatedLocation,
            sound: audio as? SimulatedAudio,
            accessories: accessory as? SimulatedAccessories,
            calls: voip as? SimulatedVoIP
        )
    }
}
