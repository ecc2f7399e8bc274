// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A Type 5 tag.
struct ModelVicinity: ModelResponder {
    var uid: [UInt8]
    var memory: [UInt8]
    var blockSize = 4
    var locked: Set<Int> = []
    /// The most blocks of READ MULTIPLE; 0 when there is no such command.
    var readLimit = 256
    var keepsToSectors = false
    /// Whether a write needs the option flag, and is answered after an EOF.
    var needsOption = false
    var tellsSize = true
    private var awaitsEOF = false
    private(set) var commands: [UInt8] = []

    init(uid: String = "e002240800112233", memory: [UInt8], blockSize: Int = 4) {
        self.uid = bytes(uid)
        self.memory = memory
        self.blockSize = blockSize
    }

    /// A tag with a message right after its container.
    init(_ message: [UInt8], blocks: Int = 128, container: String? = nil, uid: String = "e002240800112233") {
        let container = container.map(bytes) ?? [0xE1, 0x40, UInt8((blocks * 4 - 4) / 8), 0x01]
        var memory = container + [0x03] + (message.count > 254 ? [0xFF, UInt8(message.count >> 8)] : [])
        memory += [UInt8(message.count & 0xFF)] + message
        if memory.count < blocks * 4 { memory.append(0xFE) }
        memory += [UInt8](repeating: 0, count: max(0, blocks * 4 - memory.count))
        self.init(uid: uid, memory: memory)
    }

    mutating func respond(_ frame: Frame) -> ModelAnswer {
        if frame.bytes.isEmpty {
            defer { awaitsEOF = false }
            return awaitsEOF ? ModelAnswer(frame: Frame([0])) : .silence
        }
        guard frame.bytes.count >= 2 else { return .silence }
        let flags = frame.bytes[0]
        let command = frame.bytes[1]
        var rest = Array(frame.bytes[2...])
        if flags & 0x04 != 0 {
            guard command == 1 else { return .silence }
            return ModelAnswer(frame: Frame([0, 0] + uid.reversed()))
        }
        let isAddressed = flags & 0x20 != 0
        if isAddressed {
            guard rest.count >= 8, Array(rest[..<8].reversed()) == uid else { return .silence }
            rest.removeFirst(8)
        }
        commands.append(command)
        // Without the UID, errors are not answered.
        func failure(_ code: UInt8) -> ModelAnswer {
            isAddressed ? ModelAnswer(frame: Frame([0x01, code])) : .silence
        }
        let isLong = command & 0x30 == 0x30
        let count = memory.count / blockSize
        let block = rest.isEmpty ? 0 : isLong && rest.count > 1 ? Int(rest[0]) | Int(rest[1]) << 8 : Int(rest[0])
        rest.removeFirst(min(rest.count, isLong ? 2 : 1))
        let place = block * blockSize
        switch command {
        case 0x20, 0x30:
            guard block < count else { return failure(0x10) }
            return ModelAnswer(frame: Frame([0] + memory[place..<place + blockSize]))
        case 0x23, 0x33:
            guard readLimit > 0 else { return failure(0x01) }
            let number = Int(rest.first ?? 0) + 1
            let crosses = keepsToSectors && block / 32 != (block + number - 1) / 32
            guard block + number <= count, number <= readLimit, !crosses else { return failure(0x10) }
            return ModelAnswer(frame: Frame([0] + memory[place..<place + number * blockSize]))
        case 0x21, 0x31:
            guard needsOption == (flags & 0x40 != 0) else { return failure(0x03) }
            guard block < count else { return failure(0x10) }
            guard !locked.contains(block) else { return failure(0x12) }
            memory.replaceSubrange(place..<place + blockSize, with: rest)
            awaitsEOF = needsOption
            return ModelAnswer(frame: needsOption ? nil : Frame([0]), wrote: true)
        case 0x22, 0x32:
            guard needsOption == (flags & 0x40 != 0) else { return failure(0x03) }
            guard block < count else { return failure(0x10) }
            guard locked.insert(block).inserted else { return failure(0x11) }
            awaitsEOF = needsOption
            return ModelAnswer(frame: needsOption ? nil : Frame([0]), wrote: true)
        case 0x2B:
            guard tellsSize, count <= 256 else { return failure(0x01) }
            return ModelAnswer(
                frame: Frame([0, 0x04] + uid.reversed() + [UInt8(count - 1), UInt8(blockSize - 1)])
            )
        case 0x3B:
            guard tellsSize else { return failure(0x01) }
            let last = count - 1
            return ModelAnswer(
                frame: Frame(
                    [0, 0x04] + uid.reversed() + [UInt8(last & 0xFF), UInt8(last >> 8), UInt8(blockSize - 1)]
                )
            )
        default: return failure(0x01)
        }
    }
}
