// SPDX-License-Identifier: Apache-2.0

// On a phone, importing Core NFC imports Foundation as well. Many clients import nothing else.
@_exported public import Foundation
