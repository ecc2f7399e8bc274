// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A Type 4 tag: the card's half of ISO/IEC 14443-4, and files.
struct ModelCard: ModelResponder {
    var atsBytes = bytes("0578807002")
    var files: [UInt16: [UInt8]]
    var applications: [[UInt8]] = [bytes("d2760000850101")]
    /// Files that may not be written.
    var protected: Set<UInt16> = []
    /// How often S(WTX) comes before each response.
    var extensions = 0
    var frameSize = 256
    var cid: UInt8?

    private var readerFrameSize = 256
    private var number: UInt8 = 1
    private var command: [UInt8] = []
    private var pending: [[UInt8]] = []
    private var last: [UInt8] = []
    private var waiting = 0
    private var isActive = false
    private var selected: UInt16?
    private var isApplicationSelected = false
    /// The status words and instructions that were seen.
    var log: [String] = []

    init(files: [UInt16: [UInt8]]) {
        self.files = files
    }

    /// A card with an NDEF application.
    init(
        _ message: [UInt8],
        size: Int = 2048,
        maximumRead: Int = 255,
        maximumWrite: Int = 255,
        version: UInt8 = 0x20,
        access: UInt8 = 0
    ) {
        let two = { (value: Int) in [UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)] }
        let isLong = version >= 0x30
        var container: [UInt8] = [0, isLong ? 17 : 15, version] + two(maximumRead) + two(maximumWrite)
        container += isLong ? [6, 8, 0xE1, 0x04] + two(size >> 16) + two(size) : [4, 6, 0xE1, 0x04] + two(size)
        container += [0, access]
        let length = isLong ? two(message.count >> 16) + two(message.count) : two(message.count)
        var file = length + message
        file += [UInt8](repeating: 0, count: max(0, size - file.count))
        self.init(files: [0xE103: container, 0xE104: file])
    }

    /// The message in the file, or nil when the length is invalid.
    func message(lengthSize: Int = 2) -> [UInt8]? {
        let file = files[0xE104] ?? []
        let length = file[..<lengthSize].reduce(0) { $0 << 8 | Int($1) }
        guard lengthSize + length <= file.count else { return nil }
        return Array(file[lengthSize..<lengthSize + length])
    }

    mutating func powerUp() {
        isActive = false
        number = 1
        command = []
        pending = []
        last = []
        selected = nil
        isApplicationSelected = false
    }

    mutating func respond(_ frame: Frame) -> ModelAnswer {
        guard isActive else {
            guard frame.bytes.count == 2, frame.bytes[0] == 0xE0 else { return .silence }
            isActive = true
            readerFrameSize = [16, 24, 32, 40, 48, 64, 96, 128, 256][min(8, Int(frame.bytes[1] >> 4))]
            return ModelAnswer(frame: Frame(atsBytes))
        }
        var block = frame.bytes
        guard block.count + 2 <= frameSize, var pcb = block.first else { return .silence }
        block.removeFirst()
        if pcb & 0x08 != 0 {
            guard let cid, block.first == cid else { return .silence }
            block.removeFirst()
            pcb &= ~0x08
        } else if cid != nil {
            return .silence
        }
        var wrote = false
        let answer: [UInt8]
        switch pcb {
        case 0x02, 0x03, 0x12, 0x13:
            number ^= 1
            command += block
            if pcb & 0x10 != 0 {
                answer = [0xA2 | number]
            } else {
                let response = process(command, &wrote)
                command = []
                let room = readerFrameSize - (cid == nil ? 3 : 4)
                pending = stride(from: 0, to: response.count, by: room).map {
                    Array(response[$0..<min(response.count, $0 + room)])
                }
                waiting = extensions
                answer = waiting > 0 ? [0xF2, 1] : nextBlock()
            }
        case 0xA2, 0xA3, 0xB2, 0xB3:
            if pcb & 1 == number {
                answer = last
            } else if pcb & 0x10 != 0 {
                answer = [0xA2 | number]
            } else {
                number ^= 1
                answer = nextBlock()
            }
        case 0xF2:
            waiting -= 1
            answer = waiting > 0 ? [0xF2, 1] : nextBlock()
        case 0xC2:
            isActive = false
            answer = [0xC2]
        default: return .silence
        }
        last = answer
        return ModelAnswer(frame: Frame(withCID(answer)), wrote: wrote)
    }

    private func withCID(_ block: [UInt8]) -> [UInt8] {
        guard let cid, let pcb = block.first else { return block }
        return [pcb | 0x08, cid] + block.dropFirst()
    }

    private mutating func nextBlock() -> [UInt8] {
        guard !pending.isEmpty else { return [] }
        let piece = pending.removeFirst()
        return [0x02 | number | (pending.isEmpty ? 0 : 0x10)] + piece
    }

    private mutating func process(_ apdu: [UInt8], _ wrote: inout Bool) -> [UInt8] {
        log.append(hex(apdu.prefix(5)))
        guard apdu.count >= 4 else { return [0x67, 0x00] }
        let data = apdu.count > 5 ? Array(apdu[5..<min(apdu.count, 5 + Int(apdu[4]))]) : []
        switch apdu[1] {
        case 0xA4 where apdu[2] == 4:
            isApplicationSelected = applications.contains(data)
            selected = nil
            return isApplicationSelected ? [0x90, 0x00] : [0x6A, 0x82]
        case 0xA4:
            let file = data.reduce(0) { $0 << 8 | UInt16($1) }
            guard isApplicationSelected, files[file] != nil else { return [0x6A, 0x82] }
            selected = file
            return [0x90, 0x00]
        case 0xB0, 0xB1:
            guard let file = selected.flatMap({ files[$0] }) else { return [0x69, 0x86] }
            let isLong = apdu[1] == 0xB1
            let offset = isLong ? number(data.dropFirst(2)) : number(apdu[2..<4])
            guard offset < file.count else { return [0x6B, 0x00] }
            var count = apdu.last == 0 ? 256 : Int(apdu.last ?? 0)
            if isLong { count -= count > 0x81 ? 3 : 2 }
            let content = Array(file[offset..<min(file.count, offset + count)])
            if isLong {
                let length = content.count > 127 ? [0x81, UInt8(content.count)] : [UInt8(content.count)]
                return [0x53] + length + content + [0x90, 0x00]
            }
            return content + [0x90, 0x00]
        case 0xD6, 0xD7:
            guard let selected, var file = files[selected] else { return [0x69, 0x86] }
            guard !protected.contains(selected) else { return [0x69, 0x82] }
            var offset = number(apdu[2..<4])
            var content = data
            if apdu[1] == 0xD7 {
                offset = number(data[2..<5])
                let lengthSize = data[6] == 0x81 ? 2 : 1
                content = Array(data[(6 + lengthSize)...])
            }
            guard offset + content.count <= file.count else { return [0x6B, 0x00] }
            file.replaceSubrange(offset..<offset + content.count, with: content)
            files[selected] = file
            wrote = true
            return [0x90, 0x00]
        default: return [0x6D, 0x00]
        }
    }

    private func number(_ bytes: some Sequence<UInt8>) -> Int {
        bytes.reduce(0) { $0 << 8 | Int($1) }
    }
}
