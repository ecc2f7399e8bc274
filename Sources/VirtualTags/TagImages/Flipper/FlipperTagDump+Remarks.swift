// SPDX-License-Identifier: Apache-2.0

extension FlipperTagDump {
    /// A new file always has a line for the signature, even if the chip's signature is unknown.
    static var missingSignature: TagImageRemark {
        let text =
            "The file has no signature of the chip; the virtual tag has zeros, and so has a file of another format."
        return TagImageRemark(.missing, text)
    }
}
