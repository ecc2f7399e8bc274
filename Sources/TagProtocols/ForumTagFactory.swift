// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// Makes the procedures that fit a tag that has been activated.
public enum ForumTagFactory {
    /// Makes the tag's side of the NDEF procedures, by what the tag said of itself in activation.
    ///
    /// - Parameters:
    ///   - target: the tag as activation found it, ACTIVE.
    ///   - link: the NFC-A link over which it was activated.
    /// - Returns: the tag.
    /// - Throws: ``TagError`` with `unsupported` and a sentence that names the type when there are none for it.
    public static func makeTag(for target: NFCATarget, link: any FrameLink) throws(TagError) -> any ForumTag {
        if target.isType2 { return Type2Tag(target: target, link: link) }
        throw TagError(.unsupported, "\(typeName(of: target)), which can't be read yet.")
    }

    private static func typeName(of target: NFCATarget) -> String {
        if target.isType1 { return "This is a Type 1 tag" }
        if target.isISODEP { return "This is a Type 4 tag or another ISO 14443-4 card" }
        if target.isMIFAREClassic { return "This is a MIFARE Classic card" }
        if target.isNFCDEP { return "This is an NFC-DEP device" }
        return "This is a tag of an unknown type"
    }
}
