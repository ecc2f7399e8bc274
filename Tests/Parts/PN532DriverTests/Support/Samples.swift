// SPDX-License-Identifier: Apache-2.0
import Testing
import VirtualTags

/// Tags of every type that a PN532 reads.
struct Sample: Sendable, CustomTestStringConvertible {
    var name: String
    var make: @Sendable () -> any VirtualTag
    var testDescription: String { name }

    init(_ name: String, _ make: @escaping @Sendable () -> any VirtualTag) {
        self.name = name
        self.make = make
    }

    static let type2 = Sample("Type 2") { VirtualType2Tag(Type2Contents(blank: .ntag216, uid: [4, 1, 2, 3, 4, 5, 6])) }
    static let type4B = Sample("Type 4B") {
        VirtualType4Tag(card: ApplicationCard([NDEFApplication()]), frontEnd: .nfcB(pupi: [1, 2, 3, 4]))
    }

    static let all: [Sample] = [
        Sample("Type 1, static") { VirtualType1Tag(Type1Contents(blank: .topaz96, uid: [1, 2, 3, 4, 5, 6, 0x25])) },
        Sample("Type 1, dynamic") { VirtualType1Tag(Type1Contents(blank: .topaz512, uid: [1, 2, 3, 4, 5, 6, 0x25])) },
        type2,
        Sample("Type 2 without FAST_READ") {
            VirtualType2Tag(Type2Contents(blank: .ultralight, uid: [4, 1, 2, 3, 4, 5, 6]))
        },
        Sample("Type 2 with sectors") {
            VirtualType2Tag(Type2Contents(blank: .ntagI2C2K, uid: [4, 1, 2, 3, 4, 5, 6]))
        },
        Sample("Type 3") { VirtualType3Tag(FeliCaLiteSContents(idm: [2, 0xFE, 1, 2, 3, 4, 5, 6])) },
        Sample("Type 4A") { VirtualType4Tag(card: ApplicationCard([NDEFApplication()])) },
        Sample("Type 4A with long APDUs") {
            VirtualType4Tag(
                card: ApplicationCard([NDEFApplication(mapping: .version3, maximumRead: 0x400, maximumWrite: 0x400)])
            )
        },
        type4B,
    ]
}
