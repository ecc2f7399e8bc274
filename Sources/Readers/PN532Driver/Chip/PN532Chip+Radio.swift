// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TagLink

/// Frames to and from tags.
extension PN532Chip {
    /// The targets that InListPassiveTarget can look for (PN532 user manual, 7.3.5).
    enum Modulation: UInt8, Sendable {
        case nfcA = 0x00, nfcF212 = 0x01, nfcF424 = 0x02, nfcB = 0x03, type1 = 0x04
    }

    /// Polls once for targets, and switches the field on if necessary.
    ///
    /// - Parameters:
    ///   - modulation: what to look for.
    ///   - limit: the maximum number of targets: 1 or 2.
    ///   - initiatorData: the data that the modulation requires.
    /// - Returns: the chip's data about the targets that it found.
    func list(
        _ modulation: Modulation,
        limit: Int,
        _ initiatorData: [UInt8],
        _ cancellation: Cancellation?
    ) throws(LinkError) -> TargetList {
        registers = RadioRegisters()
        self.modulation = nil
        let data = [UInt8(limit), modulation.rawValue] + initiatorData
        let answer = try ask(.inListPassiveTarget, data, limit: limits.list, cancellation)
        guard let count = answer.first, count <= limit else {
            throw LinkError(.transmission, "The PN532's list of targets can't be read.")
        }
        if count > 0 { self.modulation = modulation }
        return TargetList(count: Int(count), data: Array(answer.dropFirst()))
    }

    /// Sends S(DESELECT) to the listed target, which uses ISO-DEP.
    func deselect(_ cancellation: Cancellation?) throws(LinkError) {
        _ = try sendOnce(.inDeselect, [0x01], limit: limits.own, cancellation)
    }

    /// Sends bytes as a frame in the modulation of the last list, and waits for the answer.
    ///
    /// - Returns: the answer's bytes, including the checksum if the chip does not remove it.
    func communicate(
        _ bytes: [UInt8],
        timeout: Airtime,
        _ cancellation: Cancellation?
    ) throws(LinkError) -> [UInt8] {
        let limit = try prepare(timeout, cancellation)
        let answer = try sendOnce(.inCommunicateThru, bytes, limit: limit, cancellation)
        return try Self.payload(of: answer)
    }

    /// Sends a command to the listed target, in the way of its kind.
    func exchangeData(
        _ bytes: [UInt8],
        timeout: Airtime,
        _ cancellation: Cancellation?
    ) throws(LinkError) -> [UInt8] {
        let limit = try prepare(timeout, cancellation)
        let answer = try sendOnce(.inDataExchange, [0x01] + bytes, limit: limit, cancellation)
        return try Self.payload(of: answer)
    }

    static func payload(of answer: [UInt8]) throws(LinkError) -> [UInt8] {
        guard let status = answer.first.map(PN532Status.init) else {
            throw LinkError(.transmission, "An answer of the PN532 has no status.")
        }
        if let error = status.error { throw error }
        return Array(answer.dropFirst())
    }

    // MARK: Time

    /// The smallest index of an RFConfiguration timeout that is not shorter than the given one: 100 us times 2^(n-1). 0
    /// means no limit; it is used if the longest timeout, 3.28 s, is too short.
    static func timeoutIndex(_ timeout: Airtime) -> UInt8 {
        (1...16).first { Airtime.microseconds(100 << Int64($0 - 1)) >= timeout } ?? 0
    }

    /// The duration of an RFConfiguration timeout.
    private static func span(of index: UInt8) -> Airtime { .microseconds(100 << Int64(index - 1)) }

    /// How much longer than necessary a timeout may be.
    private static let excess = Airtime.milliseconds(20)

    /// Sets the chip's timeout, and returns how long to wait for the chip.
    ///
    /// Setting the timeout takes as long as a short exchange. So a current timeout is kept if it is up to eight times
    /// too long, and at most 20 ms too long. Too long a timeout costs time only when nothing answers, which is the case
    /// in a check whether a tag is still near.
    private func prepare(_ timeout: Airtime, _ cancellation: Cancellation?) throws(LinkError) -> Duration {
        let wanted = Self.timeoutIndex(timeout)
        let isGood = timeoutIndex.map { index in
            guard wanted > 0, index > 0 else { return index == wanted }
            return index >= wanted && index <= wanted + 3 && Self.span(of: index) <= Self.span(of: wanted) + Self.excess
        }
        if isGood != true {
            timeoutIndex = nil
            _ = try ask(.rfConfiguration, [0x02, 0x00, 0x0B, wanted], cancellation)
            timeoutIndex = wanted
        }
        guard let index = timeoutIndex, index > 0 else { return timeout.duration + limits.tolerance }
        return Self.span(of: index).duration + limits.tolerance
    }

    // MARK: Registers

    /// Reads registers.
    func read(_ addresses: [UInt16], _ cancellation: Cancellation?) throws(LinkError) -> [UInt8] {
        let data = addresses.flatMap { $0.bigEndianBytes }
        let values = try ask(.readRegister, data, cancellation)
        guard values.count == addresses.count else {
            throw LinkError(.transmission, "The PN532 gives \(values.count) registers in place of \(addresses.count).")
        }
        return values
    }

    /// Writes registers in order. Only for registers that may be written twice.
    func write(_ values: [(UInt16, UInt8)], _ cancellation: Cancellation?) throws(LinkError) {
        _ = try ask(.writeRegister, Self.data(of: values), cancellation)
        for (register, value) in values { registers[register] = value }
    }

    /// Writes registers that trigger an action, once.
    func perform(_ values: [(UInt16, UInt8)], _ cancellation: Cancellation?) throws(LinkError) {
        _ = try sendOnce(.writeRegister, Self.data(of: values), limit: limits.own, cancellation)
    }

    private static func data(of values: [(UInt16, UInt8)]) -> [UInt8] {
        values.flatMap { $0.bigEndianBytes + [$1] }
    }

    /// Sets who handles checksums, and the number of bits to send of the last byte. Writes only what changes.
    func setFraming(
        appendsChecksum: Bool,
        removesChecksum: Bool,
        bitsOfLastByte: Int = 8,
        _ cancellation: Cancellation?
    ) throws(LinkError) {
        let modes = [RadioRegisters.transmitMode, RadioRegisters.receiveMode]
        if registers[modes[0]] == nil || registers[modes[1]] == nil {
            for (register, value) in zip(modes, try read(modes, cancellation)) { registers[register] = value }
            registers[RadioRegisters.bitFraming] = 0
        }
        func mode(_ register: UInt16, _ isOn: Bool) -> (UInt16, UInt8) {
            let others = (registers[register] ?? 0) & ~RadioRegisters.checksum
            return (register, isOn ? others | RadioRegisters.checksum : others)
        }
        let wanted = [
            mode(RadioRegisters.transmitMode, appendsChecksum), mode(RadioRegisters.receiveMode, removesChecksum),
            (RadioRegisters.bitFraming, UInt8(bitsOfLastByte % 8)),
        ]
        let changed = wanted.filter { registers[$0.0] != $0.1 }
        if !changed.isEmpty { try write(changed, cancellation) }
    }
}
