// SPDX-License-Identifier: Apache-2.0
package import TagLink
import Testing
package import VirtualTags

extension Stage {
    /// A stage on which tags lie in a virtual field.
    ///
    /// Requests are bytes with their checksum, or a short frame (`26'`). On NFC-F they get their length byte. Verbs:
    ///
    /// - `raw …` sends bytes without a checksum, `frame …` with one and without a length byte.
    /// - `end [n]` sends the end of a frame n times and answers the last; only that one may get an answer.
    /// - `wake [26|52]` selects the tag of NFC-A, `again` halts and selects it; `off`, `on` and `power` (both) switch
    ///   the carrier.
    /// - `arm write 1 tear old + exchange 0 mute` arms faults, `arm none` disarms.
    /// - `work` answers the microseconds that the tag worked since the last `work`, `time` those of airtime and work.
    package convenience init(
        _ technology: Technology,
        _ tags: [any VirtualTag],
        checksum: Frame.Checksum = .automatic,
        names: [String: String] = [:],
        verbs: [String: Verb] = [:]
    ) throws {
        let field = VirtualField(maximumFrameLength: 2048)
        let link = try #require(field.link(for: technology))
        for tag in tags { field.bring(tag) }
        let air = Air(field: field, link: link, checksum: checksum)
        let own: [String: Verb] = [
            "raw": { try await air.exchange(Frame(hex($0), checksum: .none)) },
            "frame": { try await air.exchange(Frame(hex($0), checksum: checksum)) },
            "end": { try await air.ends(Int($0) ?? 1) },
            "wake": { try await air.select(tags[0].identifier, wake: $0 == "26" ? 0x26 : 0x52) },
            "again": { _ in
                guard try await air.exchange(Frame([0x50, 0x00])) == "timeout" else { return "not halted" }
                return try await air.select(tags[0].identifier, wake: 0x52)
            },
            "off": { _ in air.power(on: false) },
            "on": { _ in air.power(on: true) },
            "power": { _ in
                _ = air.power(on: false)
                return air.power(on: true)
            },
            "arm": { text in
                let faults = text == "none" ? [] : text.split(separator: "+")
                field.arm(FaultPlan(try faults.map { try Fault(words: $0.split(separator: " ")) }))
                return "ok"
            },
            "bring": { _ in
                for tag in tags { field.bring(tag) }
                return "ok"
            },
            "tags": { _ in String(field.tags.count) },
            "writes": { _ in String(field.writeCount) },
            "work": { _ in String(air.workTime().microseconds) },
            "time": { _ in String(air.wholeTime().microseconds) },
        ]
        self.init(names: names, verbs: own.merging(verbs) { $1 }) { text in
            if text.hasSuffix("'") { return try await air.exchange(Frame(bits: hex(text), validBitsInLastByte: 7)) }
            let bytes = hex(text)
            let length = technology == .nfcF ? [UInt8(bytes.count + 1)] : []
            return try await air.exchange(Frame(length + bytes, checksum: checksum))
        }
    }
}

/// The field of a stage and the link to it.
private final class Air {
    let field: VirtualField
    let link: any FrameLink
    let checksum: Frame.Checksum
    private var worked = Airtime.zero
    private var elapsed = Airtime.zero

    init(field: VirtualField, link: any FrameLink, checksum: Frame.Checksum) {
        (self.field, self.link, self.checksum) = (field, link, checksum)
    }

    func exchange(_ frame: Frame) async throws -> String {
        do {
            let answer = try await link.transceive(frame, timeout: .milliseconds(10_000))
            guard let code = answer.nibble else { return hexText(answer.bytes) }
            return code == 0x0A ? "ACK" : "NAK \(code)"
        } catch {
            return error.code.description
        }
    }

    func ends(_ count: Int) async throws -> String {
        for number in 1..<count {
            let early = try await exchange(Frame([], checksum: .none))
            guard early == "timeout" else { return "\(early) at \(number)" }
        }
        let answer = try await exchange(Frame([], checksum: .none))
        guard answer.contains(" ") else { return answer }
        return Frame(hex(answer), checksum: .none).payload(checkedBy: .nfcV).map(hexText) ?? "wrong checksum"
    }

    func select(_ uid: [UInt8], wake: UInt8) async throws -> String {
        guard try await hex(exchange(Frame(bits: [wake], validBitsInLastByte: 7))).count == 2 else { return "asleep" }
        var rest = uid[...]
        for command: UInt8 in [0x93, 0x95, 0x97] {
            let part = rest.count > 4 ? [0x88] + rest.prefix(3) : Array(rest)
            let answer = hex(try await exchange(Frame([command, 0x70] + part + [part.reduce(0, ^)])))
            guard answer.count == 1, (answer[0] & 0x04 != 0) == (rest.count > 4) else { return "SAK \(answer)" }
            if rest.count <= 4 { break }
            rest = rest.dropFirst(3)
        }
        return "ok"
    }

    func power(on isOn: Bool) -> String {
        field.switchCarrier(isOn)
        return "ok"
    }

    func wholeTime() -> Airtime {
        let time = link.statistics.airtime + link.statistics.tagWorkTime
        defer { elapsed = time }
        return time - elapsed
    }

    func workTime() -> Airtime {
        let time = link.statistics.tagWorkTime
        defer { worked = time }
        return time - worked
    }
}

extension Fault {
    /// A fault from its words: `write 1 tear old`, `exchange 0 refuse 0f`.
    fileprivate init(words: [Substring]) throws {
        let count = try #require(words.count > 2 ? Int(words[1]) : nil)
        let isEvery = words[2] == "brownout"
        let trigger: Trigger = isEvery ? .everyWrite : words[0] == "write" ? .write(count) : .exchange(count)
        let argument = words.count > 3 ? String(words[3]) : ""
        let effect: Effect? =
            switch words[2] {
            case "loss": .loss
            case "mute": .mute
            case "deaf": .deaf
            case "brownout": .brownOut
            case "bits": .bitError
            case "longer": .tooLong(by: Int(argument) ?? 0)
            case "shorter": .tooShort(by: Int(argument) ?? 0)
            case "slower": .delay(.milliseconds(Int64(argument) ?? 0))
            case "refuse": .refusal(hex(argument).first ?? 0)
            case "tear" where argument == "old": .powerCut(.old)
            case "tear" where argument == "new": .powerCut(.new)
            case "tear": .powerCut(.mixed(seed: UInt64(argument) ?? 0))
            default: nil
            }
        self.init(try #require(effect), at: trigger)
    }
}
