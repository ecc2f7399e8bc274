// SPDX-License-Identifier: Apache-2.0
import TagLink
import TextSafety

/// Converts the lines of a recording to steps.
extension RecordingLine {
    func time() throws(Failure) -> Duration { .microseconds(try number("us", in: 0...1 << 53)) }

    func technology() throws(Failure) -> Technology {
        guard let name = string("technology"), let technology = Technology(recordedName: name) else {
            throw Failure(reason: "\"technology\" has to be nfc-a, nfc-b, nfc-f or nfc-v.")
        }
        return technology
    }

    func technologies() throws(Failure) -> [Technology] {
        guard let names = strings("technologies") else { throw Failure(reason: "\"technologies\" is missing.") }
        let technologies = names.compactMap(Technology.init(recordedName:))
        guard technologies.count == names.count else {
            throw Failure(reason: "\"technologies\" takes nfc-a, nfc-b, nfc-f and nfc-v.")
        }
        return technologies
    }

    /// Returns the frame of a member, with the bits and checksum of other members.
    func frame(_ key: String) throws(Failure) -> Frame {
        let bytes = try bytes(key)
        let checksum: Frame.Checksum
        switch string("checksum") {
        case nil: checksum = .automatic
        case "crc-b": checksum = .crcB
        case "none": checksum = .none
        default: throw Failure(reason: "\"checksum\" has to be crc-b or none.")
        }
        guard self["bits"] != nil else { return Frame(bytes, checksum: checksum) }
        var frame = Frame(bits: bytes, validBitsInLastByte: try number("bits", in: 1...8))
        frame.checksum = checksum
        return frame
    }

    func action(knownTags: Set<Int>) throws(Failure) -> Recording.Action {
        switch string("do") {
        case "field-on": return .field(isOn: true)
        case "field-off": return .field(isOn: false)
        case "discover":
            var codes: [UInt16] = []
            for text in strings("systems") ?? [] {
                guard text.utf8.count == 4, let code = UInt16(text, radix: 16) else {
                    throw Failure(reason: "\"systems\" takes four hex digits each.")
                }
                codes.append(code)
            }
            return .discover(try technologies(), systemCodes: codes)
        case "select": return .select(tag: try tag(knownTags))
        case "wake": return .reactivate(tag: try tag(knownTags))
        case "is-present": return .isPresent(tag: try tag(knownTags))
        case "is-still-near": return .isStillNear(try bytes("uid", count: 0...10))
        case "release": return .release
        case "presence": return .presence
        case "arrival":
            let identifier = try bytes("uid", count: 0...10)
            guard self["number"] != nil else { return .arrival(identifier, number: nil) }
            return .arrival(identifier, number: UInt64(try number("number", in: 0...1 << 53)))
        case "send":
            let tag = self["tag"] == nil ? nil : try tag(knownTags)
            guard self["technology"] != nil else {
                return .exchange(.commands, tag: tag, Frame(try bytes("hex")), timeout: .zero)
            }
            let timeout = Airtime.microseconds(Int64(try number("timeout_us", in: 0...1 << 40)))
            return .exchange(.frames(try technology()), tag: tag, try frame("hex"), timeout: timeout)
        default: throw Failure(reason: "\"do\" names no call.")
        }
    }

    private func tag(_ known: Set<Int>) throws(Failure) -> Int {
        guard let tag = number("tag"), known.contains(tag) else {
            throw Failure(reason: "\"tag\" names no tag that was found.")
        }
        return tag
    }

    func foundTag() throws(Failure) -> Recording.Tag {
        let number = try number("tag", in: 1...1 << 31)
        let identity: DiscoveredTag.Identity
        switch try technology() {
        case .nfcA:
            identity = .nfcA(
                atqa: try word("atqa"),
                sak: self["sak"] == nil ? nil : try bytes("sak", count: 1...1)[0],
                uid: try bytes("uid", count: 0...10)
            )
        case .nfcB: identity = .nfcB(answer: try bytes("atqb", count: 0...64))
        case .nfcF:
            identity = .nfcF(
                idm: try bytes("idm", count: 8...8),
                pmm: try bytes("pmm", count: 8...8),
                systemCode: self["system"] == nil ? nil : try word("system")
            )
        case .nfcV:
            identity = .nfcV(uid: try bytes("uid", count: 8...8), dsfid: try bytes("dsfid", count: 1...1)[0])
        }
        guard self["maximum_command_length"] != nil else {
            let length = try self.number("maximum_frame_length", in: 1...1 << 20)
            return Recording.Tag(
                number: number,
                identity: identity,
                port: .frames(maximumLength: length, countsAir: bool("counts_air") ?? true)
            )
        }
        let limits = Recording.Tag.Limits(
            command: try self.number("maximum_command_length", in: 1...1 << 20),
            response: try self.number("maximum_response_length", in: 1...1 << 20),
            blockCommand: try self.number("block_command_length", in: 1...1 << 20),
            blockResponse: try self.number("block_response_length", in: 1...1 << 20)
        )
        let answerToSelect = self["ats"] == nil ? nil : try bytes("ats", count: 0...255)
        return Recording.Tag(
            number: number,
            identity: identity,
            port: .commands(limits: limits, answerToSelect: answerToSelect)
        )
    }

    private func bytes(_ key: String, count: ClosedRange<Int>) throws(Failure) -> [UInt8] {
        let bytes = try bytes(key)
        guard count.contains(bytes.count) else { throw Failure(reason: "\"\(key)\" has a wrong length.") }
        return bytes
    }

    private func word(_ key: String) throws(Failure) -> UInt16 {
        let bytes = try bytes(key, count: 2...2)
        return UInt16(high: bytes[0], low: bytes[1])
    }

    /// Returns the outcome of a call, from the members that fit the call.
    func outcome(of action: Recording.Action, found: [Recording.Tag]) throws(Failure) -> Recording.Outcome {
        if let name = string("failed") {
            guard let code = LinkError.Code(recordedName: name) else {
                throw Failure(reason: "\"failed\" names no kind of failure.")
            }
            var collision: LinkError.Collision?
            if self["collision_bit"] != nil {
                let bits = try bytes("collision_hex")
                let index = try number("collision_bit", in: 0...1 << 16)
                guard bits.count == (index + 7) / 8 else {
                    throw Failure(reason: "\"collision_hex\" has a wrong length.")
                }
                collision = LinkError.Collision(bitIndex: index, bits: bits)
            }
            return .failed(LinkError(code, string("reason") ?? "", collision: collision))
        }
        switch action {
        case .exchange(.frames, _, _, _): return .frame(try frame("got"))
        case .exchange: return .frame(Frame(try bytes("got")))
        case .discover:
            guard number("found") == found.count else { throw Failure(reason: "\"found\" has to count the tags.") }
            return .tags(found)
        case .isPresent, .isStillNear:
            guard let isPresent = bool("present") else { throw Failure(reason: "\"present\" is missing.") }
            return .isPresent(isPresent)
        default:
            guard bool("done") == true else { throw Failure(reason: "\"done\" or \"failed\" is missing.") }
            return .done
        }
    }
}

extension Technology {
    fileprivate init?(recordedName name: String) {
        guard let technology = Self.allCases.first(where: { $0.recordedName == name }) else { return nil }
        self = technology
    }
}

extension LinkError.Code {
    fileprivate init?(recordedName name: String) {
        let all: [Self] = [
            .timeout, .tagRemoved, .transmission, .collision, .frameTooLong, .readerUnavailable, .cancelled,
            .unsupported, .protocolViolation, .inUse,
        ]
        guard let code = all.first(where: { $0.description == name }) else { return nil }
        self = code
    }
}
