// SPDX-License-Identifier: Apache-2.0

// On a phone, whoever imports Core NFC has Foundation as well: many clients import nothing else.
@_exported public import Foundation
