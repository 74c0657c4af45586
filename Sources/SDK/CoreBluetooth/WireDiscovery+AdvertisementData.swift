import Foundation
import WakeModel
import WakeWire

extension WireDiscovery {
    /// What `didDiscover` gives, by Apple's keys.
    var advertisementData: [String: Any] {
        var data: [String: Any] = [CBAdvertisementDataIsConnectable: NSNumber(value: advertisement.connectable)]
        if let localName = advertisement.localName {
            data[CBAdvertisementDataLocalNameKey] = localName
        }
        if !advertisement.services.isEmpty {
            data[CBAdvertisementDataServiceUUIDsKey] = advertisement.services.map { CBUUID(string: $0) }
        }
        if !overflowServices.isEmpty {
            data[CBAdvertisementDataOverflowServiceUUIDsKey] = overflowServices.map { CBUUID(string: $0) }
        }
        if !solicitedServices.isEmpty {
            data[CBAdvertisementDataSolicitedServiceUUIDsKey] = solicitedServices.map {
                CBUUID(string: $0)
            }
        }
        if let manufacturerData = advertisement.manufacturerData {
            data[CBAdvertisementDataManufacturerDataKey] = Data(manufacturerData)
        }
        if !advertisement.serviceData.isEmpty {
            let pairs = advertisement.serviceData.map { (CBUUID(string: $0.service), Data($0.data)) }
            data[CBAdvertisementDataServiceDataKey] = Dictionary(pairs) { $1 }
        }
        if let txPower = advertisement.txPower {
            data[CBAdvertisementDataTxPowerLevelKey] = NSNumber(value: Int(txPower))
        }
        return data
    }
}
