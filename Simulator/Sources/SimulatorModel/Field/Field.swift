// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// The tags near the phone, and the exchanges with them.
struct Field: Sendable {
    /// The result of an exchange and its effects on the tags.
    struct Outcome: Sendable {
        var result: Result<Frame, LinkError>
        /// How long the exchange takes on the air.
        var elapsed: Airtime
        /// Whether the exchange programmed a tag's memory, completely or torn.
        var isWrite: Bool
        /// The tags that left during the exchange.
        var left: [String] = []
        /// The faults for `leave_after` and `tear_write` that were triggered.
        var happened: [FieldFaults.Kind] = []
    }

    let virtual: VirtualField
    private(set) var near: [(id: String, tag: any VirtualTag)] = []
    /// The tags that stay until the user takes them away.
    private(set) var held: Set<String> = []
    private(set) var isCarrierOn = false
    var faults: FieldFaults

    init(seed: UInt64) {
        virtual = VirtualField(name: "simulator")
        virtual.switchCarrier(false)
        faults = FieldFaults(seed: seed)
    }

    func isNear(_ id: String) -> Bool { near.contains { $0.id == id } }

    /// Brings a tag near.
    ///
    /// - Returns: whether the tag was not near before.
    mutating func bring(_ id: String, _ tag: any VirtualTag, isHeld: Bool) throws(SimulatorFailure) -> Bool {
        if isHeld { held.insert(id) } else { held.remove(id) }
        guard !isNear(id) else { return false }
        guard near.count < Limits.near else {
            held.remove(id)
            throw SimulatorFailure(
                "too-many-near",
                "\(Limits.near) tags are near the phone already. Take one away first."
            )
        }
        near.append((id, tag))
        virtual.bring(tag)
        faults.resetExchangeCount()
        return true
    }

    /// Takes a tag away.
    ///
    /// - Returns: whether the tag was near.
    mutating func remove(_ id: String) -> Bool {
        held.remove(id)
        guard let index = near.firstIndex(where: { $0.id == id }) else { return false }
        virtual.remove(near.remove(at: index).tag)
        return true
    }

    /// Takes all tags away, and returns their ids.
    mutating func removeAll() -> [String] {
        let identifiers = near.map(\.id)
        virtual.removeAll()
        near = []
        held = []
        return identifiers
    }

    /// Replaces a tag that is near by a new tag with the same id.
    mutating func replace(_ id: String, by tag: any VirtualTag) {
        guard let index = near.firstIndex(where: { $0.id == id }) else { return }
        virtual.remove(near[index].tag)
        near[index].tag = tag
        virtual.bring(tag)
    }

    mutating func setCarrier(_ isOn: Bool) {
        isCarrierOn = isOn
        virtual.switchCarrier(isOn)
    }

    mutating func exchange(
        _ frame: Frame,
        _ technology: Technology,
        timeout: Airtime,
        _ switches: Switches
    ) -> Outcome {
        let plan = isCarrierOn ? faults.next(switches) : .unchanged
        var kinds: [FieldFaults.Kind] = []
        if case .faults(let chosen) = plan {
            kinds = chosen
            virtual.arm(FaultPlan(kinds, seed: faults.seed))
        }
        let writes = virtual.writeCount
        let (result, elapsed) = virtual.exchange(frame, over: technology, timeout: timeout)
        let isWrite = virtual.writeCount > writes
        if isWrite { faults.countWrite() }
        var outcome = Outcome(result: result, elapsed: elapsed, isWrite: isWrite)
        if kinds.contains(.loss) { outcome.happened.append(.loss) }
        if isWrite, kinds.contains(.tear) { outcome.happened.append(.tear) }
        if !outcome.happened.isEmpty { outcome.left = dropGone() }
        return outcome
    }

    /// Removes the tags that a fault has taken out of the field.
    private mutating func dropGone() -> [String] {
        let tags = virtual.tags
        let gone = near.filter { entry in !tags.contains { $0 === entry.tag } }.map(\.id)
        near.removeAll { gone.contains($0.id) }
        held.subtract(gone)
        return gone
    }
}
