// SPDX-License-Identifier: Apache-2.0
import SystemLibrary
import Testing

@Suite struct `Memory that held a secret` {
    @Test func `It is zeros afterwards, and nothing beside it is touched`() {
        var bytes = [UInt8](1...16)
        unsafe bytes.withUnsafeMutableBytes { unsafe MemoryWipe.wipe(.init(rebasing: $0[4..<12])) }
        #expect(bytes == [1, 2, 3, 4] + [UInt8](repeating: 0, count: 8) + [13, 14, 15, 16])
        unsafe MemoryWipe.wipe(.init(start: nil, count: 0))
    }
}
