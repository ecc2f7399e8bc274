// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CardCryptography
import NFCSessions
import TagLink
import TagProtocols

struct TagVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check the signature with which the maker proves that a tag is its own.",
        discussion: """
            NXP signs the UID of each NTAG21x, Ultralight EV1, ICODE SLIX2, NTAG 424 DNA,
            DESFire EV2 and of others; ST that of ST25TA, ST25TN and the newer ST25TV.
            A copied chip lacks the signature, unless it has the UID of a genuine tag
            too: so look for UIDs that come twice. The tag is not changed.

            Examples:
              nfc tag verify
              nfc tag verify card.nfc --json

            Exit status: 0 when the maker signed the UID, 1 when not, the tag has no
            signature, the tag left, or no tag was found, 2 for wrong usage, 3 without a
            reader, 130 when cancelled.
            """
    )

    @OptionGroup var source: TagSourceOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() async throws {
        let ((uid, signature), _) = try await source.read("Hold the tag to check near the reader.") {
            tag throws(TagError) in try await tag.originality()
        }
        guard let signature else {
            throw CommandFailure("no-signature", "The tag with UID \(uid.hexText()) has no signature that can be read.")
        }
        let key: OriginalityKey?
        do throws(CryptographyError) {
            key = try OriginalityKey.signing(uid, signature)
        } catch {
            throw CommandFailure("no-library", error.reason)
        }
        guard let key else {
            let message =
                "No key of NXP or ST that is known made the signature of UID \(uid.hexText()). The tag is a copy, or of another maker."
            throw CommandFailure("not-original", message)
        }
        printResult(
            json: json,
            [
                "ok": true, "uid": uid.hexText(), "signature_hex": signature.hexText(), "signer": key.signer,
                "products": key.products,
            ],
            ["UID \(uid.hexText()) is signed by \(key.signer) with the key of \(key.products)."]
        )
    }
}

extension ActivatedTag {
    /// The UID, and the signature of its maker; nil when the tag has none.
    fileprivate func originality() async throws(TagError) -> (uid: [UInt8], signature: [UInt8]?) {
        // The code of a manufacturer begins a UID of seven bytes, and follows E0 in that of ISO/IEC 15693.
        let uid = target.identifier
        let isST = uid.count > 4 && uid[forumTag is Type5Tag ? 1 : 0] == 0x02
        let signature =
            switch forumTag {
            case let tag as Type2Tag: isST ? try await tag.readSTSignature() : try await tag.readSignature()
            case let tag as Type4Tag: try await CardSignature.read(from: tag.link, isST: isST)
            case let tag as Type5Tag: isST ? try await tag.readSTSignature() : try await tag.readSignature()
            default: nil as [UInt8]?
            }
        return (target.identifier, signature.flatMap { $0.contains { $0 != 0 } ? $0 : nil })
    }
}
