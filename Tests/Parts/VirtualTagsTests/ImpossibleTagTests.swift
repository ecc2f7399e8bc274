// SPDX-License-Identifier: Apache-2.0
import TestThreads
import Testing
import VirtualTags

/// Checks that a program that makes a tag from data that no tag has ends, rather than test with such a tag.
@Suite(.ownThreads) struct `A tag that no field can have` {
    @Test func `is one of NFC-A with a UID of five bytes`() async {
        await #expect(processExitsWith: .failure) {
            _ = VirtualType2Tag(.ntag213, uid: [0x04, 1, 2, 3, 5])
        }
    }

    @Test func `is one of NFC-B with a part of its ATQB that is too short`() async {
        await #expect(processExitsWith: .failure) {
            _ = VirtualType4Tag(card: ApplicationCard([NDEFApplication()]), frontEnd: .nfcB(pupi: [1, 2, 3]))
        }
        await #expect(processExitsWith: .failure) {
            _ = VirtualType4Tag(
                card: ApplicationCard([NDEFApplication()]),
                frontEnd: .nfcB(pupi: [1, 2, 3, 4], protocolInfo: [0x00, 0x81])
            )
        }
    }
}
