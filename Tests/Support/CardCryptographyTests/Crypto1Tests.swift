// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import Testing

/// Crypto-1 against authentications that others recorded from real cards (the examples of mfkey64).
struct Crypto1Tests {
    @Test(arguments: [
        // UID, nonce, reader's nonce and answer, card's answer, key; then encrypted and decrypted frames with checksums.
        (
            "9c599b32 82a4166c a1e458ce 6eea41e0 5cadf439", "ffffffffffff",
            // Another authentication of block 0.
            [("8e0e5db9", "6000f57b")]
        ),
        (
            "14579f69 ce844261 f8049ccb 0525c84f 9431cc40", "091e639cb715",
            // READ of blocks 20 and 21.
            [
                ("7093df99", "3014a7fe"),
                ("9972428ce2e8523f456b99c831e769dced09", "c26935cfdb95c4b4a27a84b8217ae9e48217"),
                ("8ca6827b", "30152eef"),
            ]
        ),
    ])
    func `Crypto-1: a recorded authentication proves its key, and the frames after it can be read`(
        trace: String,
        key: String,
        frames: [(encrypted: String, plain: String)]
    ) {
        let parts = trace.split(separator: " ").map { bytes(String($0)) }
        let (uid, nonce) = (parts[0], parts[1])
        var card = Crypto1(key: bytes(key))
        let encrypted = card.feed(nonce, uid: uid, isEncrypted: false)
        let readerNonce = card.feed(parts[2], isEncrypted: true)
        #expect(card.apply(to: parts[3]) == Crypto1.successor(of: nonce, steps: 64))
        #expect(card.apply(to: parts[4]) == Crypto1.successor(of: nonce, steps: 96))
        for frame in frames { #expect(card.apply(to: bytes(frame.encrypted)) == bytes(frame.plain)) }
        // The reader's side, with the encrypted nonce of a nested authentication.
        var reader = Crypto1(key: bytes(key))
        #expect(reader.feed(encrypted, uid: uid, isEncrypted: true) == nonce)
        #expect(reader.feed(readerNonce, isEncrypted: false) == parts[2])
    }
}
