// SPDX-License-Identifier: Apache-2.0
import TagLink

extension Recording.Header {
    /// The first line of the file.
    var line: String {
        var builder = RecordingLine.Builder()
        builder.add("opencorenfc_recording", Recording.version)
        builder.add("reader", reader)
        builder.add("kind", isField ? "field" : "discovering")
        builder.add("technologies", technologies.map(\.recordedName))
        builder.add("maximum_frame_length", maximumFrameLength)
        builder.add("tells_presence", tellsPresence)
        return builder.line
    }
}

extension Recording.Step {
    /// The line for the call.
    var line: String {
        var builder = RecordingLine.Builder()
        builder.begin(number, time)
        switch action {
        case .field(let isOn): builder.add("do", isOn ? "field-on" : "field-off")
        case .discover(let technologies, let systems):
            builder.add("do", "discover")
            builder.add("technologies", technologies.map(\.recordedName))
            builder.add("systems", systems.map { $0.bigEndianBytes.hexText() })
        case .select(let tag): builder.add("do", "select", tag)
        case .reactivate(let tag): builder.add("do", "wake", tag)
        case .isPresent(let tag): builder.add("do", "is-present", tag)
        case .isStillNear(let identifier):
            builder.add("do", "is-still-near")
            builder.add("uid", hex: identifier)
        case .release: builder.add("do", "release")
        case .presence: builder.add("do", "presence")
        case .arrival(let identifier, let number):
            builder.add("do", "arrival")
            builder.add("uid", hex: identifier)
            if let number { builder.add("number", Int(clamping: number)) }
        case .exchange(let medium, let tag, let request, let timeout):
            builder.add("do", "send")
            if let tag { builder.add("tag", tag) }
            if case .frames(let technology) = medium {
                builder.add("technology", technology.recordedName)
                builder.add(request)
                builder.add("timeout_us", Int(timeout.microseconds))
            } else {
                builder.add("hex", hex: request.bytes)
            }
        }
        return builder.line
    }

    /// The lines for the outcome; empty while it is unknown, and for events that the reader reports itself.
    var outcomeLines: String {
        guard let outcome, !action.isTold else { return "" }
        var builder = RecordingLine.Builder()
        builder.begin(number, endTime ?? time)
        switch outcome {
        case .done: builder.add("done", true)
        case .isPresent(let isPresent): builder.add("present", isPresent)
        case .frame(let frame): builder.add(frame, key: "got")
        case .tags(let tags):
            builder.add("found", tags.count)
            return tags.map(\.line).joined() + builder.line
        case .failed(let error):
            builder.add("failed", error.code.description)
            builder.add("reason", error.reason)
            if let collision = error.collision {
                builder.add("collision_bit", collision.bitIndex)
                builder.add("collision_hex", hex: collision.bits)
            }
        }
        return builder.line
    }
}

extension Recording.Tag {
    fileprivate var line: String {
        var builder = RecordingLine.Builder()
        builder.add("tag", number)
        builder.add("technology", identity.technology.recordedName)
        switch identity {
        case .nfcA(let atqa, let sak, let uid):
            builder.add("atqa", hex: atqa.bigEndianBytes)
            if let sak { builder.add("sak", hex: [sak]) }
            builder.add("uid", hex: uid)
        case .nfcB(let answer): builder.add("atqb", hex: answer)
        case .nfcF(let idm, let pmm, let system):
            builder.add("idm", hex: idm)
            builder.add("pmm", hex: pmm)
            if let system { builder.add("system", hex: system.bigEndianBytes) }
        case .nfcV(let uid, let dsfid):
            builder.add("uid", hex: uid)
            builder.add("dsfid", hex: [dsfid])
        }
        switch port {
        case .frames(let length, let countsAir):
            builder.add("maximum_frame_length", length)
            if !countsAir { builder.add("counts_air", countsAir) }
        case .commands(let limits, let answerToSelect):
            builder.add("maximum_command_length", limits.command)
            builder.add("maximum_response_length", limits.response)
            builder.add("block_command_length", limits.blockCommand)
            builder.add("block_response_length", limits.blockResponse)
            if let answerToSelect { builder.add("ats", hex: answerToSelect) }
        }
        return builder.line
    }
}

extension RecordingLine.Builder {
    fileprivate mutating func begin(_ number: Int?, _ time: Duration) {
        if let number { add("n", number) }
        add("us", Int(time.wholeMicroseconds))
    }

    fileprivate mutating func add(_ key: StaticString, _ call: String, _ tag: Int) {
        add(key, call)
        add("tag", tag)
    }

    fileprivate mutating func add(_ frame: Frame, key: StaticString = "hex") {
        add(key, hex: frame.bytes)
        if frame.validBitsInLastByte != 8 { add("bits", frame.validBitsInLastByte) }
        switch frame.checksum {
        case .automatic: break
        case .crcB: add("checksum", "crc-b")
        case .none: add("checksum", "none")
        }
    }
}
