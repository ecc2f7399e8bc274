import TagLink

// SPDX-License-Identifier: Apache-2.0
// modules: CLinuxSupport LinuxSupport TagLink PN532Driver
@testable import PN532Driver

/// For any bytes on a chip's line, the same frames are found for all sizes of pieces, at most one is buffered, and a list of
/// targets is read or refused.
///
/// Input: the first byte is the length of the pieces.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let length = bytes.first else { return 0 }
    let line = Array(bytes.dropFirst())
    let whole = frames(line, piece: max(1, line.count))
    guard frames(line, piece: Int(length) + 1) == whole else { fatalError("It matters how a line is cut.") }
    for case .message(let message) in whole {
        guard message.count < PN53xFrame.maximumPayload else { fatalError("A frame over its limit.") }
        let (code, data) = (message[0], Array(message.dropFirst()))
        _ = try? PN532Chip.payload(of: data)
        guard code == 0x4B, let count = data.first, count <= 2 else { continue }
        let list = TargetList(count: Int(count), data: Array(data.dropFirst()))
        guard (try? list.nfcA())?.count ?? Int(count) == count else { fatalError("Another number of targets.") }
        guard (try? list.nfcF(polled: 0x12FC))?.count ?? Int(count) == count else {
            fatalError("Another number of targets.")
        }
        _ = try? list.type1()
        _ = try? list.hasNFCB()
    }
    return 0
}

private func frames(_ line: [UInt8], piece: Int) -> [PN53xFrame] {
    var decoder = PN53xFrameDecoder(from: .chip)
    var frames: [PN53xFrame] = []
    for start in stride(from: 0, to: line.count, by: piece) {
        decoder.append(Array(line[start..<min(start + piece, line.count)]))
        while let frame = decoder.next() { frames.append(frame) }
        guard decoder.keptCount <= PN53xFrame.maximumPayload + 8 else { fatalError("More kept than a frame.") }
    }
    while let frame = decoder.abandonPartial() { frames.append(frame) }
    return frames
}
