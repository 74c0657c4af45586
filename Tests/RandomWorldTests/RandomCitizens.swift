import WakeModel

/// What the random world's apps do with what they share with others.
extension RandomWorld {
    mutating func anyMeasure() -> AppRequest {
        switch chance.below(12) {
        case 0: .measured(.drew)
        case 1: .measured(chance.once(in: 4) ? .privateLocks(1) : .locks(chance.once(in: 8) ? 1 : 0))
        case 2: .measured(.listeners(UInt16(chance.below(2))))
        case 3: .measured(.services(UInt16(chance.below(2))))
        case 4, 5: .measured(.processor(UInt32(chance.below(100))))
        case 6, 7: .asked(.remaining)
        case 8, 9: .asked(.activity)
        default: .measured(.footprint(UInt32(chance.below(1_420))))
        }
    }
}
